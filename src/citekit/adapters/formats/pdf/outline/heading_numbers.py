"""The numbers of headings: `2.1`, `A.3`, `Chapter 4`, `Part II`, `第3章`, `二、`."""

from __future__ import annotations

import re

_DEPTH = re.compile(
    r"(\d{1,3}|[A-Z])((?:\.\d{1,3}){0,5})[.:)]?(?:\s+|(?<=\d)(?=[^\W\d_a-zA-Z])|(?<=\d)(?!st\b|nd\b|rd\b|th\b)(?=[A-Za-z]{2}))(?=\S)"
)
_SPELLED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    "nineteen|twenty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?"
)
_NAMED = re.compile(
    r"(?:(?P<part>part|teil|partie|parte|deel|book|volume)|"
    r"(?P<chapter>chapter|kapitel|chapitre|cap[ií]tulo|capitolo|hoofdstuk|appendix|anhang|annexe?|ap[eé]ndice|appendice)|"
    r"(?P<section>section|abschnitt|secci[oó]n|sezione))(?:\s+|(?=\d))(?:\d{1,3}|[IVXLC]{1,7}|[A-Z]|[ivxlc]{1,7}|"
    rf"{_SPELLED})(?!\w)(?!\.\d)",
    re.IGNORECASE,
)
_PLACE = re.compile(r"第.{1,4}?([部編])|第.{1,4}?(章)|第.{1,4}?([節节])")
_COUNTED = re.compile(
    r"(?:[一二三四五六七八九十]{1,3}[、．]|(?P<inner>[（(][一二三四五六七八九十]{1,3}[)）]))\s*(?=\S)"
)
"""What Chinese documents count below their chapters (`第一章`): `一、`, and below that `（一）`."""

_ROMAN = re.compile(r"([IVX]{1,6})[.:]?\s+(?=\S)")
_LABEL = re.compile(
    r"(?:chapter|part|kapitel|teil|chapitre|partie|cap[ií]tulo|parte|capitolo|appendix|anhang|annexe)(?:\s+|(?=\d))"
    rf"(?:\d{{1,3}}|[IVXLC]{{1,7}}|[A-Z]|[ivxlc]{{1,7}}|{_SPELLED})[.:]?|第.{{1,4}}[章部編]",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"chapter|part|kapitel|teil|chapitre|partie|cap[ií]tulo|parte|capitolo|appendix|anhang|annexe", re.I
)
_GLUED = re.compile(
    r"(?:(?<=^chapter)|(?<=^part)|(?<=^kapitel)|(?<=^teil)|(?<=^chapitre)|(?<=^appendix))(?=\d)", re.IGNORECASE
)
_ALONE = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,5}[.:)]?|[IVX]{1,6}[.:]?")


def depth_of(text: str) -> int:
    """How deep the number before a heading is: 1 for `3 Results` and `Chapter 3`, 2 for `3.1`, 0 where there is none.

    A single letter is a number only before another one (`A.1`).
    """
    if rank_of(text) == 1:
        return 1
    counted = _COUNTED.match(text)
    if counted:
        return 3 if counted["inner"] else 2
    found = _DEPTH.match(text)
    if not found or (found[1].isalpha() and not found[2]):
        return 0
    return found[2].count(".") + 1


def rank_of(text: str) -> int | None:
    """0 for a part, 1 for a chapter or appendix, 2 for a section that is called so; None for all others."""
    named = _NAMED.match(text)
    if named:
        return 0 if named["part"] else 1 if named["chapter"] else 2
    placed = _PLACE.match(text)
    return (0 if placed[1] else 1 if placed[2] else 2) if placed else None


def parts_of(text: str) -> tuple[str, ...]:
    """The number before a heading, in parts: (`2`, `1`) of `2.1 Method`; empty where there is none."""
    found = _DEPTH.match(text)
    return (found[1], *found[2].split(".")[1:]) if found else ()


def roman_of(text: str) -> str:
    """The Roman number in capitals before a heading, "" where there is none."""
    found = _ROMAN.match(text)
    return found[1] if found else ""


def spaced(text: str) -> str:
    """A heading with a space between the name of a chapter and its number, where it is printed without (`CHAPTER1`)."""
    return _GLUED.sub(" ", text, count=1)


def is_label(text: str) -> bool:
    """Whether a line is nothing but the name of a chapter or part (`Chapter 1`), whose title follows."""
    return bool(_LABEL.fullmatch(text))


def is_begun_label(text: str) -> bool:
    """Whether a line is the first word of such a name (`CHAPTER`), whose number stands below."""
    return bool(_BEGUN.fullmatch(text))


def is_number(text: str) -> bool:
    """Whether a line is nothing but the number of a heading."""
    return bool(_ALONE.fullmatch(text))


def unnumbered(text: str) -> str:
    """A heading without its number."""
    named = _NAMED.match(text) or _PLACE.match(text) or _COUNTED.match(text)
    rest = text[named.end() :].lstrip(" .:–—-") if named else _DEPTH.sub("", text, count=1)
    return rest or text
