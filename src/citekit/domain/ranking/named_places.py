"""Finds places that a question names and that are not in the index: printed page numbers, lines, and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from citekit.domain.locations import Lines, Location, TimeSpan
from citekit.domain.ranking.references import PAGE, roman_value
from citekit.domain.vocabulary import Words, any_of

LINE: Words = (
    "line", "lines", "zeile", "zeilen", "ligne", "lignes", "línea", "líneas", "riga", "righe", "linha", "linhas", "regel",
    "regels", "行",
)  # fmt: skip
MINUTE: Words = ("minute", "minutes", "minuto", "minutos", "minuti", "minuten", "minuut", "min", "分")

_TO = r"(?:-|\u2013|to|and|bis|und|a|et|y|e|en)"
_LINES = rf"(?<!\w)(?:{any_of(LINE)})\.?\s*(\d{{1,7}})(?:\s*{_TO}\s*(\d{{1,7}}))?(?![\w.:])"
_MINUTES = rf"(?<!\w)(?:{any_of(MINUTE)})\.?\s*(\d{{1,3}})(?:\s*{_TO}\s*(\d{{1,3}}))?(?![\w.:])"
_CLOCK = r"(?<![\w:.])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\w:])"
_ORDINAL = r"\b(?:the )?(?:(first|second|third|fourth|fifth)|(\d{1,3})(?:st|nd|rd|th)) minute\b"
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_PRINTED = rf"(?<!\w)(?:{any_of(PAGE)})\.?\s*([ivxlcdm]{{1,9}}|[a-z]{{0,3}}[-\u2013.]?\d{{1,6}})(?!\w)"
"""These patterns are compiled on first use, because most questions have no number."""

MOST_NAMED = 10
"""Maximum number of places of each kind. Others are ignored."""


@frozen
class NamedPlaces:
    """The places that a question names.

    `printed` are page numbers as printed, in lowercase, such as "xii" or "a-3". `lines` are ranges (first, last) of
    line numbers from 1, and `times` are ranges (start, end) in seconds.
    """

    printed: frozenset[str] = frozenset()
    lines: Sequence[tuple[int, int]] = field(default=(), converter=tuple[tuple[int, int], ...])
    times: Sequence[tuple[float, float]] = field(default=(), converter=tuple[tuple[float, float], ...])

    def include(self, location: Location) -> bool:
        """Return whether `location` overlaps a named line or time."""
        if isinstance(location, Lines):
            return any(location.overlaps(Lines(first, last)) for first, last in self.lines)
        if isinstance(location, TimeSpan):
            return any(location.overlaps(TimeSpan(start, end, location.modality)) for start, end in self.times)
        return False


def places_in(question: str) -> NamedPlaces:
    """Return the printed page numbers, lines, and times in a question."""
    numbered = any(map(str.isdigit, question))
    lines = [_range(found[1], found[2]) for found in _found(_LINES, question)] if numbered else []
    minutes = [_range(found[1], found[2]) for found in _found(_MINUTES, question)] if numbered else []
    minutes += [(_ordinal(found) - 1, _ordinal(found) - 1) for found in _found(_ORDINAL, question)]
    clock = [_seconds(*found.groups()) for found in _found(_CLOCK, question)] if ":" in question else []
    times = [(60.0 * first, 60.0 * last + 60.0) for first, last in minutes if first >= 0]
    return NamedPlaces(
        frozenset([found[1].lower().replace("\u2013", "-") for found in _found(_PRINTED, question)][:MOST_NAMED]),
        [each for each in lines if each[0] > 0][:MOST_NAMED],
        [*times, *((second, second + 1) for second in clock)][:MOST_NAMED],
    )


def pages_printed(printed: frozenset[str], rules: object, pages: int) -> frozenset[int]:
    """Return the pages, from 1 to `pages`, whose printed numbers are in `printed`.

    `rules` is the metadata `page_labels` of a map. Without valid rules, there are none.
    """
    known = [_Rule.of(each) for each in rules if isinstance(each, Mapping)] if isinstance(rules, Sequence) else []
    found = set[int]()
    for rule, following in zip(known, [*known[1:], None], strict=False):
        end = pages + 1 if following is None else min(following.first, pages + 1)
        found.update(
            page for label in printed if (page := rule.page_of(label)) is not None and max(1, rule.first) <= page < end
        )
    return frozenset(found)


@frozen
class _Rule:
    """A rule for printed numbers (ISO 32000-1, 12.4.2): from page `first`, numbers in `style` count up from `start`."""

    first: int
    style: str
    prefix: str
    start: int

    @classmethod
    def of(cls, rule: Mapping[object, object]) -> _Rule:
        first, start = rule.get("first_page"), rule.get("start")
        return cls(
            first if isinstance(first, int) else 1,
            str(rule.get("style", "")).upper(),
            str(rule.get("prefix", "")).lower(),
            start if isinstance(start, int) else 1,
        )

    def page_of(self, label: str) -> int | None:
        """Return the page with that printed number, or None if this rule does not give it or uses letters."""
        if not label.startswith(self.prefix):
            return None
        number = label[len(self.prefix) :]
        if self.style == "D" and number.isdecimal():
            return self.first + int(number) - self.start
        if self.style == "R" and (value := roman_value(number)):
            return self.first + value - self.start
        if not self.style and not number:
            return self.first
        return None


def _found(pattern: str, question: str) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, question, re.IGNORECASE)


def _seconds(hours: str | None, minutes: str, seconds: str) -> float:
    return 3600.0 * int(hours or 0) + 60 * int(minutes) + int(seconds)


def _range(first: str, last: str | None) -> tuple[int, int]:
    low, high = sorted((int(first), int(last or first)))
    return low, high


def _ordinal(found: re.Match[str]) -> int:
    return _ORDINALS.index(found[1].lower()) + 1 if found[1] else int(found[2])
