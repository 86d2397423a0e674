"""Matches lines with regular expressions in linear time.

The pattern is compiled into an automaton without backtracking (Thompson 1968), so that no pattern takes exponential
time.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from attrs import define, field

from citekit.domain.errors import RequestRefused

STATES = 2000
"""The maximum number of states of the automaton of one pattern."""

WORK = 4_000_000
"""The maximum number of states that the searches with one pattern visit."""

CACHED = 20_000
"""The maximum number of transitions that are kept."""

_Accepts = Callable[[str], bool]
_WORD = re.compile(r"\w")
_CATEGORIES: dict[object, _Accepts] = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    codes.CATEGORY_WORD: lambda c: _is_word(c),
    codes.CATEGORY_NOT_WORD: lambda c: not _is_word(c),
}
_TOO_MUCH = (
    "The search with this regular expression takes too long. Use a simpler expression, search fewer files, or search for "
    "words."
)


def _is_word(character: str) -> bool:
    return bool(character) and _WORD.match(character) is not None


@define
class _State:
    """A state of the automaton.

    If `accepts` is set, it accepts one character and continues with `after[0]`. Otherwise, it continues with all states
    in `after`, without a character. If `condition`, such as a word boundary, is set, it must be true for the previous
    and the next character, which are empty at the ends of the line.
    """

    accepts: _Accepts | None = None
    condition: Callable[[str, str], bool] | None = None
    after: list[int] = field(factory=list)


_FOUND = -1
"""The number that stands for the final state."""

_Reached = tuple[frozenset[int], str]
"""The states that are reached before a character, and the kind of the previous one: `w` for a character of a word, a
space for another, and empty at the start of the line.
"""


@define
class LinePattern:
    """A compiled regular expression for lines, which ignores case.

    It supports the syntax of `re` except lookaround, conditional groups, atomic groups, possessive quantifiers, and
    references to groups.
    """

    _states: list[_State] = field(factory=list)
    _start: int = 0
    _final: int = 0
    _required: Sequence[bytes] = (b"",)
    _spent: int = field(default=0, init=False)
    _numbers: dict[_Reached, int] = field(factory=dict, init=False, eq=False, repr=False)
    _reached: list[_Reached] = field(factory=list, init=False, eq=False, repr=False)
    _after: list[dict[str, int]] = field(factory=list, init=False, eq=False, repr=False)
    """The cached transitions, by the position of a `_Reached` in `_reached`: after each next character ("" at the end of
    a line), the position of the next one, or `_FOUND`.
    """

    _kept: int = field(default=0, init=False, eq=False)

    @classmethod
    def of(cls, pattern: str) -> LinePattern:
        """Compile a regular expression. Raise `RequestRefused` if it is invalid, unsupported, or too large."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parsed = parser.parse(pattern, re.IGNORECASE)
            made = cls()
            made._start, end = made._sequence(parsed)
        except RecursionError:
            raise RequestRefused("The regular expression is nested too deeply. Use a simpler one.") from None
        except (re.error, OverflowError, ValueError) as wrong:
            raise RequestRefused(f"The regular expression is invalid: {str(wrong)[:200]}.") from None
        made._final = made._add(_State())
        made._states[end].after.append(made._final)
        made._required = sorted((each.encode() for each in _required(parsed)), key=len, reverse=True) or (b"",)
        return made

    def lines_matching(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the offset and the text of each line of `text` that is not blank and that the pattern matches.

        Raise `RequestRefused` if the search takes too much work.
        """
        numbers = self._lines_that_may_match(text)
        if not numbers:
            return
        lines = text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        for number in numbers:
            if lines[number].strip() and self.matches(lines[number]):
                yield starts[number], lines[number]

    def _lines_that_may_match(self, text: str) -> Sequence[int]:
        """Return the numbers of the lines, from 0, that have the ASCII characters that every match contains.

        This is fast, because only ASCII characters change their case.
        """
        lowered = text.encode("utf-8", "surrogatepass").lower()
        if not all(each in lowered for each in self._required):
            return ()
        longest, others = self._required[0], self._required[1:]
        found = [(number, line) for number, line in enumerate(lowered.split(b"\n")) if longest in line]
        return [number for number, line in found if all(each in line for each in others)]

    def matches(self, line: str) -> bool:
        """Return whether the pattern matches anywhere in the line. Raise `RequestRefused` if the search takes too much
        work.
        """
        number, known = self._number_of((frozenset(), "")), self._after
        for character in chain(line, ("",)):
            after = known[number].get(character)
            number = self._step(number, character) if after is None else after
            if number == _FOUND:
                return True
        return False

    def _number_of(self, reached: _Reached) -> int:
        number = self._numbers.get(reached)
        if number is None:
            number = self._numbers[reached] = len(self._reached)
            self._reached.append(reached)
            self._after.append({})
        return number

    def _step(self, number: int, character: str) -> int:
        """Return the number of what is reached after `character`, or `_FOUND` if the final state was reached before it.

        Keep it, but forget all others first if there are `CACHED`.
        """
        (states, before), known = self._reached[number], self._after[number]
        later, is_found = self._stepped(states, before, character)
        if self._kept >= CACHED:
            for each in (self._numbers, self._reached, self._after):
                each.clear()
            self._kept = 0
        kind = "w" if _is_word(character) else character and " "
        known[character] = after = _FOUND if is_found else self._number_of((later, kind))
        self._kept += 1
        return after

    def _stepped(self, current: Iterable[int], before: str, character: str) -> tuple[frozenset[int], bool]:
        """Return the states after `character`, and whether the final state was reached before it.

        `current` are the states before `character`, and `before` is the kind of the previous character. Raise
        `RequestRefused` if the search takes too much work.
        """
        pending, seen, after = [self._start, *current], set[int](), set[int]()
        while pending:
            number = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            state = self._states[number]
            if state.accepts is not None:
                if character and state.accepts(character):
                    after.update(state.after)
            elif state.condition is None or state.condition(before, character):
                pending.extend(state.after)
        self._spent += len(seen)
        if self._spent > WORK:
            raise RequestRefused(_TOO_MUCH)
        return frozenset(after), self._final in seen

    def _add(self, state: _State) -> int:
        if len(self._states) >= STATES:
            raise RequestRefused("The regular expression is too large. Use smaller repetitions or fewer alternatives.")
        self._states.append(state)
        return len(self._states) - 1

    def _sequence(self, parts: Any) -> tuple[int, int]:
        """Add the states for a parsed sequence. Return the numbers of the first and the last one, which has no
        successor yet.
        """
        first = last = self._add(_State())
        for code, value in parts:
            begin, end = self._part(code, value)
            self._states[last].after.append(begin)
            last = end
        return first, last

    def _part(self, code: object, value: Any) -> tuple[int, int]:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeat(*value)
        if code is codes.SUBPATTERN:
            return self._sequence(value[3])
        if code is codes.BRANCH:
            return self._branch(value[1])
        if code is codes.AT:
            return self._single(_State(condition=_condition(value)))
        return self._single(_State(accepts=_accepting(code, value)))

    def _single(self, state: _State) -> tuple[int, int]:
        begin = self._add(state)
        end = self._add(_State())
        state.after.append(end)
        return begin, end

    def _branch(self, choices: Sequence[Any]) -> tuple[int, int]:
        begin, end = self._add(_State()), self._add(_State())
        for choice in choices:
            first, last = self._sequence(choice)
            self._states[begin].after.append(first)
            self._states[last].after.append(end)
        return begin, end

    def _repeat(self, least: int, most: object, part: Any) -> tuple[int, int]:
        first = last = self._add(_State())
        for _ in range(least):
            begin, end = self._sequence(part)
            self._states[last].after.append(begin)
            last = end
        done = self._add(_State())
        if most is codes.MAXREPEAT:
            begin, end = self._sequence(part)
            self._states[last].after += [begin, done]
            self._states[end].after += [begin, done]
            return first, done
        assert isinstance(most, int)
        for _ in range(most - least):
            begin, end = self._sequence(part)
            self._states[last].after += [begin, done]
            last = end
        self._states[last].after.append(done)
        return first, done


def _required(parts: Any) -> list[str]:
    """Return the sequences of lowercase ASCII characters that every match contains."""
    runs = [""]
    for code, value in parts:
        if code is codes.LITERAL and value < 128:
            runs[-1] += chr(value).lower()
        elif code is codes.SUBPATTERN:
            runs += [*_required(value[3]), ""]
        else:
            runs.append("")
    return list(filter(None, runs))


_MATCHES_EMPTY = sys.version_info >= (3, 14)
r"""Whether `\B` matches an empty line in `re`, as it does since Python 3.14."""


def _condition(code: object) -> Callable[[str, str], bool]:
    if code in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
        return lambda before, _: not before
    if code in (codes.AT_END, codes.AT_END_STRING):
        return lambda _, after: not after
    if code is codes.AT_BOUNDARY:
        return lambda before, after: _is_word(before) != _is_word(after)
    return lambda before, after: (_is_word(before) == _is_word(after)) and bool(before or after or _MATCHES_EMPTY)


def _accepting(code: object, value: Any) -> _Accepts:
    """Return a function that reports whether a character matches a parsed element.

    Raise `RequestRefused` if the element does not match a single character.
    """
    if code is codes.LITERAL:
        letters = _cases(value)
        return lambda character: character in letters
    if code is codes.NOT_LITERAL:
        letters = _cases(value)
        return lambda character: character not in letters
    if code is codes.ANY:
        return lambda _: True
    if code is codes.IN:
        inverted = value[0][0] is codes.NEGATE
        choices = [_choice(*each) for each in (value[1:] if inverted else value)]
        return lambda character: any(accepts(character) for accepts in choices) is not inverted
    raise RequestRefused(
        "The regular expression uses lookaround, a backreference, or another feature that is not supported. "
        "Use only characters, classes, groups, alternatives, repetitions, anchors, and word boundaries."
    )


def _choice(code: object, value: Any) -> _Accepts:
    if code is codes.LITERAL:
        letters = _cases(value)
        return lambda character: character in letters
    if code is codes.RANGE:
        low, high = value
        return lambda character: any(low <= ord(each) <= high for each in _both_cases(character))
    return _CATEGORIES[value]


def _cases(code: int) -> frozenset[str]:
    return frozenset(_both_cases(chr(code)))


def _both_cases(character: str) -> tuple[str, ...]:
    return character, *(each for each in (character.lower(), character.upper()) if len(each) == 1)
