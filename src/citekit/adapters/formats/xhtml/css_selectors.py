"""Parses selectors (Selectors Level 4), and matches all selectors of a document in one walk over its elements.

The selectors form a tree: each compound selector follows the compound selector and combinator before it. The walk
records which of them match, so that they are not tried again on ancestors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from citekit.adapters.formats.xhtml.css_truth import Truth, every, inverted, some
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.selectolax import markup_name
from citekit.adapters.libraries.tinycss2 import Token, nth, split, stripped

if TYPE_CHECKING:
    from lxml.etree import _Element

Weight = tuple[int, int, int]
"""The specificity of a selector: the numbers of IDs, of classes and attributes, and of element names."""

NEVER = names(
    """
    hover focus active visited focus-within focus-visible target target-within user-valid user-invalid fullscreen
    modal popover-open picture-in-picture autofill -webkit-autofill playing seeking buffering stalled host
    host-context current past future active-view-transition -webkit-full-screen
    """
)
"""Pseudo-classes that do not apply to a page that was just opened."""

_PARTS = names(
    """
    before after marker placeholder selection backdrop file-selector-button cue cue-region part slotted highlight
    grammar-error spelling-error target-text view-transition view-transition-group view-transition-old
    view-transition-new view-transition-image-pair scroll-marker scroll-marker-group scroll-button column
    checkmark picker picker-icon
    """
)
"""Pseudo-elements that contain no text of the element."""

_LETTERS = frozenset(("first-line", "first-letter", "details-content"))
_UNDECIDED = names(
    """
    has lang dir required optional read-only read-write in-range out-of-range valid invalid default indeterminate
    placeholder-shown blank nth-last-child nth-last-of-type last-of-type only-of-type state muted paused
    """
)
_GROUPS = frozenset(("is", "where", "matches", "-webkit-any", "not"))
_COMBINATORS = frozenset(">+~")


@define
class Place:
    """The element to match, with its position among its siblings (from 1).

    `own` has the compound selectors that match or may match it, by number.
    """

    element: _Element
    name: str
    attributes: Mapping[str, str]
    classes: frozenset[str]
    is_root: bool
    index: int
    index_of_name: int
    own: dict[int, Truth] = field(factory=dict)


Test = Callable[[Place], Truth]


@define(eq=False)
class Compound:
    """The end of a complex selector: conditions on one element, and the selector before it."""

    number: int
    left: Compound | None
    combinator: str
    name: str = ""
    ids: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    tests: tuple[Test, ...] = ()
    rules: list[int] = field(factory=list)

    def fits(self, place: Place) -> Truth:
        """Return whether the element fulfills the conditions of this compound selector."""
        if self.name and self.name != place.name:
            return False
        result: Truth = True
        if self.ids:
            given = place.attributes.get("id", "")
            if self.ids != {given}:
                # In quirks mode, IDs and classes are case-insensitive.
                if {each.lower() for each in self.ids} != {given.lower()}:
                    return False
                result = None
        if self.classes and not self.classes <= place.classes:
            if not {each.lower() for each in self.classes} <= {each.lower() for each in place.classes}:
                return False
            result = None
        for test in self.tests:
            held = test(place)
            if held is False:
                return False
            if held is None:
                result = None
        return result


class Selected(NamedTuple):
    """A complex selector, represented by its last compound selector. With `maybe`, it cannot be matched exactly."""

    compound: Compound
    weight: Weight
    maybe: bool = False


class UnreadableSelectorError(Exception):
    """A selector is invalid, or not supported."""


class _NeverMatchesError(Exception):
    """A selector matches no element of a page that was just opened."""


@define
class _Parts:
    """The conditions of a compound selector that were read so far."""

    name: str = ""
    ids: set[str] = field(factory=set)
    classes: set[str] = field(factory=set)
    key: str = ""
    tests: list[Test] = field(factory=list)
    weight: Weight = (0, 0, 0)
    any: bool = False

    def add(self, weight: Weight) -> None:
        self.any = True
        self.weight = _sum(self.weight, weight)


@define
class Selectors:
    """The compound selectors of a document, indexed by one condition each for fast lookup."""

    index: dict[str, list[Compound]] = field(factory=dict)
    size: int = 0
    leading: dict[str, set[int]] = field(factory=dict)
    _numbers: Iterator[int] = field(factory=count)
    _known: dict[tuple[int, str, str, frozenset[str], frozenset[str]], Compound] = field(factory=dict)

    def parse(self, tokens: Sequence[Token], parents: Sequence[Selected] | None) -> tuple[list[Selected], bool]:
        """Return the selectors in the list `tokens`, and whether the whole list is known to be valid.

        Selectors that never match or cannot be read are omitted. `parents` are the selectors of the rule around this
        one, or None.
        """
        found: list[Selected] = []
        valid = True
        for part in split(tokens):
            try:
                found.extend(self._complex(part, parents))
            except _NeverMatchesError:
                continue
            except UnreadableSelectorError:
                valid = False
        return found, valid

    def _complex(self, tokens: Sequence[Token], parents: Sequence[Selected] | None) -> Iterator[Selected]:
        pieces = list(_pieces(tokens))
        if not pieces:
            raise UnreadableSelectorError
        starts: Sequence[Selected | None] = [None]
        if parents is not None:
            leads = pieces[0][1][:1]
            relative = bool(pieces[0][0])
            if leads and _is_nest(leads[0]) and len(pieces[0][1]) == 1 and not relative:
                pieces, starts = pieces[1:], parents
                if not pieces:
                    yield from parents
                    return
            elif relative or not any(_is_nest(each) for _, words in pieces for each in words):
                pieces[0] = (pieces[0][0] or " ", pieces[0][1])
                starts = parents
        elif pieces[0][0]:
            raise UnreadableSelectorError
        for start in starts:
            yield self._from(start, pieces, parents)

    def _from(
        self,
        start: Selected | None,
        pieces: Iterable[tuple[str, Sequence[Token]]],
        parents: Sequence[Selected] | None,
    ) -> Selected:
        left = start.compound if start else None
        weight, maybe = (start.weight, start.maybe) if start else ((0, 0, 0), False)
        for combinator, words in pieces:
            parts, unsure = _Parts(), False
            for test in self._conditions(words, parts, parents):
                unsure = unsure or test is None
            left = self._compound(left, combinator, parts)
            weight, maybe = _sum(weight, parts.weight), maybe or unsure
        assert left is not None
        return Selected(left, weight, maybe)

    def _compound(self, left: Compound | None, combinator: str, parts: _Parts) -> Compound:
        ids, classes = frozenset(parts.ids), frozenset(parts.classes)
        same = (left.number if left else -1, combinator, parts.name, ids, classes)
        if not parts.tests and same in self._known:
            return self._known[same]
        made = Compound(next(self._numbers), left, combinator, parts.name, ids, classes, tuple(parts.tests))
        self.size += 1
        if not parts.tests:
            self._known[same] = made
        if left is not None:
            self.leading.setdefault(combinator, set()).add(left.number)
        if made.ids:
            key = f"#{min(made.ids).lower()}"
        elif made.classes:
            key = f".{min(made.classes).lower()}"
        else:
            key = parts.key or made.name or "*"
        self.index.setdefault(key, []).append(made)
        return made

    def _conditions(self, words: Sequence[Token], parts: _Parts, parents: Sequence[Selected] | None) -> Iterator[Truth]:
        """Read the conditions of a compound selector into `parts`, and yield None for each that cannot be decided.

        Raise `UnreadableSelectorError` if the selector is not valid, and `_NeverMatchesError` if it matches no element.
        """
        at = 0
        while at < len(words):
            word, follows = words[at], words[at + 1] if at + 1 < len(words) else None
            at += 1
            if word.kind == "ident" and not parts.any:
                parts.name = markup_name(word.word)
                parts.add((0, 0, 1))
            elif word.kind == "literal" and word.text == "*" and not parts.any:
                parts.any = True
            elif word.kind == "literal" and word.text == "|":
                parts.any, parts.name = False, ""
                yield None
            elif word.kind == "hash":
                parts.ids.add(word.text)
                parts.add((1, 0, 0))
            elif word.kind == "literal" and word.text == "." and follows is not None and follows.kind == "ident":
                parts.classes.add(follows.text)
                parts.add((0, 1, 0))
                at += 1
            elif word.kind == "[]":
                name, test = _attribute(word.inner)
                parts.key = parts.key or f"[{name}"
                parts.tests.append(test)
                parts.add((0, 1, 0))
            elif _is_nest(word):
                parts.tests.append(_any_of([each.compound for each in parents]) if parents else _is_root)
                parts.add(max((each.weight for each in parents), default=(0, 0, 0)) if parents else (0, 0, 0))
            elif word.kind == "literal" and word.text == ":" and follows is not None:
                at += 1
                double = follows.kind == "literal" and follows.text == ":"
                if double:
                    follows = words[at] if at < len(words) else None
                    at += 1
                    if follows is None:
                        raise UnreadableSelectorError
                condition, weight = self._pseudo(follows, double, parents)
                parts.add(weight)
                if condition is None:
                    yield None
                else:
                    parts.tests.append(condition)
            else:
                raise UnreadableSelectorError

    def _pseudo(self, word: Token, is_element: bool, parents: Sequence[Selected] | None) -> tuple[Test | None, Weight]:
        """Return the condition of a pseudo-class (None: undecided) and its specificity. See `_conditions` for errors."""
        name = word.word if word.kind == "ident" else word.text
        if word.kind not in ("ident", "function"):
            raise UnreadableSelectorError
        if name in _LETTERS:
            return None, (0, 0, 1)
        if is_element or name in ("before", "after"):
            if name in _PARTS or name.startswith("-webkit-"):
                raise _NeverMatchesError
            raise UnreadableSelectorError
        if name in NEVER:
            return _never, (0, 1, 0)
        if word.kind == "function" and name in _GROUPS:
            found, valid = self.parse(word.inner, parents)
            unsure = not valid or any(each.maybe for each in found)
            weight = (0, 0, 0) if name == "where" else max((each.weight for each in found), default=(0, 0, 0))
            within = _any_of([each.compound for each in found], unsure=unsure)
            return (lambda place: inverted(within(place))) if name == "not" else within, weight
        if name == "scope" and parents:
            return _any_of([each.compound for each in parents]), (0, 1, 0)
        if name in _SIMPLE and word.kind == "ident":
            return _SIMPLE[name], (0, 1, 0)
        if word.kind == "function" and name in ("nth-child", "nth-of-type"):
            return _nth(word.inner, of_type=name == "nth-of-type"), (0, 1, 0)
        if name in _UNDECIDED:
            return None, (0, 1, 0)
        raise UnreadableSelectorError


def _pieces(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Token]]]:
    """Yield each combinator of a complex selector with the tokens of the compound selector after it."""
    combinator, words = "", list[Token]()
    for each in tokens:
        sign = " " if each.kind == "whitespace" else each.text if each.kind == "literal" else ""
        if sign != " " and sign not in _COMBINATORS:
            words.append(each)
            continue
        if words:
            yield combinator, words
            combinator, words = sign, []
        elif sign != " ":
            if combinator not in ("", " "):
                raise UnreadableSelectorError
            combinator = sign
    if not words:
        raise UnreadableSelectorError
    yield combinator, words


def _is_nest(token: Token) -> bool:
    return token.kind == "literal" and token.text == "&"


def _sum(one: Weight, other: Weight) -> Weight:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _any_of(compounds: Sequence[Compound], *, unsure: bool = False) -> Test:
    numbers = [each.number for each in compounds]

    def test(place: Place) -> Truth:
        held = some(place.own.get(each, False) for each in numbers)
        return None if unsure else held

    return test


def _attribute(inner: Sequence[Token]) -> tuple[str, Test]:
    """Return the name of the attribute in an attribute selector, and the condition."""
    words = [each for each in inner if each.kind != "whitespace"]
    if len(words) > 1 and words[1].text == "|" and words[2:3] and words[2].kind == "ident":
        words = words[2:]
    if not words or words[0].kind != "ident":
        raise UnreadableSelectorError
    name = markup_name(words[0].text.lower())
    if len(words) == 1:
        return name, lambda place: name in place.attributes
    signs = "".join(each.text for each in words[1:] if each.kind in ("literal", "delim"))
    rest = [each for each in words[1:] if each.kind != "literal"]
    if not rest or len(rest) > 2 or rest[0].kind not in ("ident", "string") or signs not in _SIGNS:
        raise UnreadableSelectorError
    wanted, compare = rest[0].text, _SIGNS[signs]
    flag = rest[1].word if len(rest) > 1 else ""

    def test(place: Place) -> Truth:
        given = place.attributes.get(name)
        if given is None:
            return False
        if flag != "i" and compare(given, wanted):
            return True
        # Some attributes of HTML are compared without regard to case.
        folded = compare(given.lower(), wanted.lower())
        return folded if flag == "i" or not folded else None if flag != "s" else False

    return name, test


_SIGNS: Mapping[str, Callable[[str, str], bool]] = {
    "=": lambda given, wanted: given == wanted,
    "~=": lambda given, wanted: wanted in given.split(),
    "|=": lambda given, wanted: given == wanted or given.startswith(f"{wanted}-"),
    "^=": lambda given, wanted: bool(wanted) and given.startswith(wanted),
    "$=": lambda given, wanted: bool(wanted) and given.endswith(wanted),
    "*=": lambda given, wanted: bool(wanted) and wanted in given,
}


def _never(_: Place) -> Truth:
    return False


def _is_root(place: Place) -> Truth:
    return place.is_root


def _is_empty(place: Place) -> Truth:
    element = place.element
    return len(element) == 0 and not element.text


def _is_last(place: Place) -> Truth:
    return place.element.getnext() is None


_SIMPLE: Mapping[str, Test] = {
    "root": _is_root,
    "scope": _is_root,
    "empty": _is_empty,
    "first-child": lambda place: place.index == 1,
    "first-of-type": lambda place: place.index_of_name == 1,
    "last-child": _is_last,
    "only-child": lambda place: place.index == 1 and place.element.getnext() is None,
    "link": lambda place: place.name in ("a", "area") and "href" in place.attributes,
    "any-link": lambda place: place.name in ("a", "area") and "href" in place.attributes,
    "checked": lambda place: "checked" in place.attributes or "selected" in place.attributes,
    "disabled": lambda place: "disabled" in place.attributes,
    "enabled": lambda place: "disabled" not in place.attributes,
    "open": lambda place: "open" in place.attributes,
    "defined": lambda place: True if "-" not in place.name else None,
}


def _nth(inner: Sequence[Token], *, of_type: bool) -> Test | None:
    """Return the condition of `:nth-child()` or `:nth-of-type()`; None if the argument is not supported."""
    found = nth("".join(_written(each) for each in stripped(inner)))
    if found is None:
        return None
    step, offset = found

    def test(place: Place) -> Truth:
        distance = (place.index_of_name if of_type else place.index) - offset
        return distance == 0 if step == 0 else distance % step == 0 and distance // step >= 0

    return test


def _written(token: Token) -> str:
    if token.kind in ("number", "dimension"):
        return f"{token.number:+g}{token.text}"
    return token.text


@define
class _Frame:
    """What was matched on an element (`own`), on the ancestors of its children (`above`), and on its children."""

    own: Mapping[int, Truth]
    above: Mapping[int, Truth]
    previous: Mapping[int, Truth] = field(factory=dict)
    earlier: dict[int, Truth] = field(factory=dict)
    index: int = 0
    names: dict[str, int] = field(factory=dict)


@define
class Walk:
    """Matches selectors against the elements of a document, which are entered and left in document order.

    Each element raises `limit`, the maximum number of comparisons (`work`).
    """

    selectors: Selectors
    limit: int
    limit_per_element: int
    work: int = 0
    is_exhausted: bool = field(default=False, init=False)
    """Whether matching needed more comparisons than `limit`. What later elements match is then not known."""

    _frames: list[_Frame] = field(factory=lambda: [_Frame({}, {})])

    def enter(self, element: _Element, name: str, attributes: Mapping[str, str]) -> list[tuple[Compound, bool]]:
        """Return the selectors with rules that match or may match the element, and whether the match is certain."""
        frame = self._frames[-1]
        frame.index += 1
        self.limit += self.limit_per_element
        same = frame.names[name] = frame.names.get(name, 0) + 1
        is_root = len(self._frames) == 1
        classes = frozenset(attributes["class"].split()) if "class" in attributes else frozenset[str]()
        place = Place(element, name, attributes, classes, is_root, frame.index, same)
        matched = [] if self.is_exhausted else list(self._matched(place, frame))
        own = place.own
        above = frame.above
        leads = self.selectors.leading
        leading = [(each, own[each]) for each in own.keys() & leads.get(" ", _NONE) if above.get(each) is not True]
        if leading:
            self.work += len(above) // 16
            above = {**above, **dict(leading)}
        frame.previous = own
        for each in own.keys() & leads.get("~", _NONE):
            if frame.earlier.get(each) is not True:
                frame.earlier[each] = own[each]
        self.is_exhausted = self.is_exhausted or self.work > self.limit
        self._frames.append(_Frame(own, above))
        return matched

    def leave(self) -> None:
        """Leave the element that was entered last."""
        self._frames.pop()

    def _matched(self, place: Place, frame: _Frame) -> Iterator[tuple[Compound, bool]]:
        index = self.selectors.index
        keys = {"*", place.name, *(f".{each.lower()}" for each in place.classes)}
        keys.update(f"[{each}" for each in place.attributes)
        if place.attributes.get("id"):
            keys.add(f"#{place.attributes['id'].lower()}")
        lists = [index[each] for each in keys if each in index]
        candidates = lists[0] if len(lists) == 1 else sorted((each for some in lists for each in some), key=_number)
        self.work += len(keys) + len(candidates)
        places = {" ": frame.above, ">": frame.own, "+": frame.previous, "~": frame.earlier}
        for each in candidates:
            held: Truth = True
            if each.left is not None:
                held = places[each.combinator].get(each.left.number, False)
                if held is False:
                    continue
            held = every((each.fits(place), held))
            if held is not False:
                place.own[each.number] = held
                if each.rules:
                    yield each, held is True


_NONE: frozenset[int] = frozenset()


def _number(compound: Compound) -> int:
    return compound.number
