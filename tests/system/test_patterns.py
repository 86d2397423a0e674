"""No regular expression of CiteKit takes time that doubles with each character of a text.

Each repeated part of each pattern is repeated a few dozen times, followed by something that does not match. A pattern that
can divide the repetitions in more than one way then needs minutes instead of microseconds.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import sys
from collections.abc import Iterator
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import citekit

CANDIDATES = "a1 .!,-\t\n&#<>[](){}'\"|:/*_=~`\\%$+^xA"
REPETITIONS = 30
MOST_SAMPLES = 4
MOST_PARTS = 60
SECONDS = 2.0
REPEATS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))


class TooSlowError(Exception):
    """A pattern was not done in time."""


def patterns() -> dict[tuple[str | bytes, int], str]:
    """Return the patterns that CiteKit's modules compile when they are imported, each with its file and line."""
    found: dict[tuple[str | bytes, int], str] = {}
    compiled = re._compile  # type: ignore[attr-defined]

    def noted(pattern: Any, flags: int) -> re.Pattern[Any]:
        made: re.Pattern[Any] = compiled(pattern, flags)
        caller = sys._getframe(2)
        if "citekit" in caller.f_code.co_filename and isinstance(pattern, (str, bytes)):
            found[pattern, flags] = f"{caller.f_code.co_filename.rpartition('citekit/')[2]}:{caller.f_lineno}"
        return made

    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "citekit"}
    with pytest.MonkeyPatch.context() as patch:
        for name in before:
            patch.delitem(sys.modules, name)
        patch.setattr(re, "_compile", noted)
        for module in pkgutil.walk_packages(citekit.__path__, "citekit."):
            importlib.import_module(module.name)
            patch.setitem(sys.modules, module.name, sys.modules[module.name])
    return found


def of_class(items: Any) -> list[str]:
    """Return characters that a class of a pattern matches."""
    matcher = parser.SubPattern(parser.State(), [(kinds.IN, items)])
    compiled = re._compiler.compile(matcher)  # type: ignore[attr-defined]
    own = [chr(value) for kind, value in items if kind is kinds.LITERAL]
    own += [chr(value[0]) for kind, value in items if kind is kinds.RANGE]
    return [each for each in dict.fromkeys([*CANDIDATES, *own]) if compiled.match(each)][: MOST_SAMPLES + 2]


def samples_of(parts: Any) -> list[str]:
    """Return a few texts that a sequence of parts matches, if what it looks for around them is ignored."""
    texts = [""]
    for kind, value in parts:
        texts = [text + more for text in texts[:MOST_SAMPLES] for more in samples_of_part(kind, value)[:MOST_SAMPLES]]
    return texts


def samples_of_part(kind: Any, value: Any) -> list[str]:
    match str(kind):
        case "LITERAL":
            return [chr(value)]
        case "NOT_LITERAL":
            return [each for each in "a 1." if ord(each) != value]
        case "ANY":
            return ["a", " ", "."]
        case "IN":
            return of_class(value)
        case "BRANCH":
            return [text for branch in value[1] for text in samples_of(branch)[:2]]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, body = value
            return ([""] if least == 0 else []) + [text * max(1, least) for text in samples_of(body)]
        case "SUBPATTERN":
            return samples_of(value[-1])
        case "ATOMIC_GROUP":
            return samples_of(value)
    return [""]


def repeated(parts: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts that a pattern can repeat, each with a text that matches what comes before."""
    for kind, value in parts:
        if str(kind) in REPEATS:
            _, most, body = value
            yield from ((before, text) for text in samples_of(body) if text and most > MOST_SAMPLES)
            yield from repeated(body, before)
        elif str(kind) in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from repeated(value[-1] if str(kind) == "SUBPATTERN" else value, before)
        elif str(kind) == "BRANCH":
            for branch in value[1]:
                yield from repeated(branch, before)
        before += (samples_of_part(kind, value) or [""])[-1]


def too_slow(pattern: str | bytes, flags: int) -> str | None:
    """Return a text that takes the pattern too long, or None."""
    compiled = re.compile(pattern, flags)
    parts = list(dict.fromkeys(repeated(parser.parse(pattern, flags))))[:MOST_PARTS]
    for before, part in parts:
        for after in ("\x00", "!", "\n x"):
            text = before + part * REPETITIONS + after
            subject: Any = text.encode("latin-1", "replace") if isinstance(pattern, bytes) else text
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                compiled.search(subject)
                compiled.fullmatch(subject)
            except TooSlowError:
                return text
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return None


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("pattern", [r"(?:a*)*b", r"(?:[!&]\S*[ \t]*)*\Z", r"(?:may[a-z]*[\s,]*)+"])
def test_patterns_that_are_too_slow_are_noticed(pattern: str) -> None:
    assert too_slow(pattern, 0)


@pytest.mark.long
@pytest.mark.usefixtures("alarm")
def test_no_pattern_takes_exponential_time() -> None:
    found = patterns()

    assert len(found) > 500
    slow = {where: text for (pattern, flags), where in found.items() if (text := too_slow(pattern, flags))}
    assert slow == {}
