"""How the headings of a map are held against those that people wrote: found, placed, and nested."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from attrs import frozen

LIKENESS = 0.85
"""The ratio of two normalised titles (`difflib`, 2 M / T) from which on they are the same."""

_SPELLED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    "nineteen|twenty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?"
)
_NAME = (
    "chapter|part|section|appendix|book|kapitel|teil|anhang|abschnitt|chapitre|partie|annexe|cap[ií]tulo|parte|"
    "ap[eé]ndice|capitolo|appendice|sezione|hoofdstuk|deel"
)
_NUMBER = re.compile(
    rf"^(?:{_NAME})\s+(?:[0-9]+(?:\.[0-9a-z]+)*|[ivxlc]+|[a-z]|{_SPELLED})(?:\s*[.:)–—-]\s*|\s+)(?=\S)"
    r"|^(?:[0-9]+(?:\.[0-9a-z]+)*|[a-z](?:\.[0-9a-z]+)+|[ivxlc]+|[a-z])[.:)]?\s+(?=\S)"
    r"|^第[0-9一二三四五六七八九十]+[章部節]\s*"
)
"""What stands before a title and is left out: a number, or the name of a part of a book with its number in digits, Roman
numerals, a letter or (in English) words. Both sides of a comparison, and both programs, lose it alike."""

_MARK = re.compile(r"[^\w\s]|_")


@frozen
class Heading:
    """A title on a page (from 1); `parent` is the place of the heading above it among the others, None at the top."""

    title: str
    page: int
    parent: int | None


@frozen
class Score:
    """Precision, recall and their harmonic mean, of headings and of their parents."""

    precision: float
    recall: float
    f1: float
    parents: float
    """F1 of the pairs (heading, parent); a pair is right where both are."""


def score(truth: Sequence[Heading], found: Sequence[Heading]) -> Score:
    """Each heading is matched once at most, on its page, to the one that reads most like it."""
    pairs = matched(truth, found)
    nested = sum(_same_parent(truth[wanted].parent, found[got].parent, pairs) for wanted, got in pairs.items())
    return Score(
        precision=len(pairs) / len(found) if found else 0.0,
        recall=len(pairs) / len(truth) if truth else 0.0,
        f1=_f1(len(pairs), len(truth), len(found)),
        parents=_f1(nested, len(truth), len(found)),
    )


def matched(truth: Sequence[Heading], found: Sequence[Heading]) -> dict[int, int]:
    """For each heading of `truth` that was found, its place in `found`."""
    there: dict[int, list[int]] = defaultdict(list)
    for place, heading in enumerate(found):
        there[heading.page].append(place)
    likely = [
        (ratio, wanted, got)
        for wanted, heading in enumerate(truth)
        for got in there[heading.page]
        if (ratio := likeness(heading.title, found[got].title)) >= LIKENESS
    ]
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, wanted, got in sorted(likely, key=lambda each: (-each[0], each[1], each[2])):
        if wanted not in pairs and got not in taken:
            pairs[wanted] = got
            taken.add(got)
    return pairs


def likeness(one: str, other: str) -> float:
    """How much two titles read alike, 0 to 1, as they are or without their numbers."""
    a, b = plain(one), plain(other)
    return max(_ratio(a, b), _ratio(unnumbered(a), unnumbered(b)))


def plain(title: str) -> str:
    """Case, width, ligatures, hyphens at the ends of lines and runs of space left out."""
    return " ".join(unicodedata.normalize("NFKC", title).replace("\u00ad", "").casefold().split())


def unnumbered(title: str) -> str:
    """A plain title without the number before it, and without punctuation."""
    return " ".join(_MARK.sub(" ", _NUMBER.sub("", title, count=1)).split())


def _ratio(one: str, other: str) -> float:
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    if 2 * min(len(one), len(other)) < LIKENESS * (len(one) + len(other)):
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _same_parent(wanted: int | None, got: int | None, pairs: dict[int, int]) -> bool:
    if wanted is None or got is None:
        return wanted is got
    return pairs.get(wanted) == got


def _f1(right: int, wanted: int, got: int) -> float:
    return 2 * right / (wanted + got) if wanted + got else 0.0


def with_parents(levels: Sequence[tuple[int, str, int]]) -> list[Heading]:
    """Headings from (level, title, page) in reading order: the parent is the nearest one before of a smaller level."""
    found: list[Heading] = []
    above: list[tuple[int, int]] = []
    for level, title, page in levels:
        while above and above[-1][0] >= level:
            above.pop()
        found.append(Heading(title, page, above[-1][1] if above else None))
        above.append((level, len(found) - 1))
    return found
