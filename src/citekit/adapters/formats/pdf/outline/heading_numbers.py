"""Parses the numbers of headings: `2.1`, `A.3`, `Chapter 4`, `Part II`, `第3章`, `二、`."""

from __future__ import annotations

import re
from collections.abc import Collection

from citekit.domain.vocabulary import (
    APPENDIX,
    ARTICLE,
    BOOK,
    CHAPTER,
    CJK_CHAPTER,
    CJK_PART,
    CJK_SECTION,
    EXHIBIT,
    FIRST,
    NUMBER,
    PART,
    SECTION,
    VOLUME,
    any_of,
)

MIN_SERIES = 3
"""The minimum number of different numbers after one word (`Item 1`, `Item 2`) in a series of headings."""

_SECTION_NUMBER = re.compile(
    r"(?:§\s*(?=\d))?(\d{1,3}|[A-Z])((?:\.\d{1,3}){0,5})[.:)]?(?:\s+|(?<=\d)(?=[^\W\d_a-zA-Z])|(?<=\d)(?!st\b|nd\b|rd\b|th\b)(?=[A-Za-z]{2}))(?=\S)"
)
_NUMBER_WORDS = any_of(NUMBER)
_NAMED_NUMBER = re.compile(
    rf"(?:(?P<part>{any_of(PART, BOOK, VOLUME)})|(?P<chapter>{any_of(CHAPTER, APPENDIX)})|(?P<section>{any_of(SECTION)}))"
    rf"(?:\s+|(?=\d))(?:\d{{1,3}}|[IVXLC]{{1,7}}|[A-Z]|[ivxlc]{{1,7}}|{_NUMBER_WORDS})(?!\w)(?!\.\d)",
    re.IGNORECASE,
)
_APPENDIX = re.compile(rf"(?:{any_of(APPENDIX, EXHIBIT)})\b", re.IGNORECASE)
_CJK_NAMED_NUMBER = re.compile(rf"第.{{1,4}}?([{CJK_PART}])|第.{{1,4}}?({CJK_CHAPTER})|第.{{1,4}}?([{CJK_SECTION}])")
_CHINESE_NUMBER = re.compile(
    r"(?:[一二三四五六七八九十]{1,3}[、．]|(?P<inner>[（(][一二三四五六七八九十]{1,3}[)）]))\s*(?=\S)"
)
"""Numbering of Chinese documents below chapters (`第一章`): `一、`, and below that `（一）`."""

_ROMAN_NUMBER = re.compile(r"([IVX]{1,6})[.:]?\s+(?=\S)")
_LABEL_WORDS = any_of(CHAPTER, PART, APPENDIX)
_LABEL = re.compile(
    rf"(?:{any_of(CHAPTER, PART, APPENDIX, EXHIBIT, SECTION, ARTICLE)})"
    rf"(?:\s+|(?=\d))(?:\d{{1,3}}|[IVXLC]{{1,7}}|[A-Z]|[ivxlc]{{1,7}}|{_NUMBER_WORDS})[.:]?"
    rf"|第.{{1,4}}[{CJK_CHAPTER}{CJK_PART}]",
    re.IGNORECASE,
)
_LABEL_WORD = re.compile(_LABEL_WORDS, re.IGNORECASE)
_JOINED_NUMBER = re.compile(rf"\A({_LABEL_WORDS})(?=\d)", re.IGNORECASE)
_SERIES_NUMBER = rf"\d{{1,3}}(?:[A-Za-z]|-\d{{1,2}})?|[IVXLC]{{1,7}}|(?i:{any_of(FIRST)})"
_SERIES = re.compile(rf"([^\W\d_]{{3,12}})\s+({_SERIES_NUMBER})(?=\s*[.:–—-](?!\d)|\s+[^\W\d_a-z]|\s*\Z)")
_LETTER_SERIES = re.compile(r"\(?(?:([IVX]{1,6})|([A-Z])|([a-z]))(?:[.)]|\s[–—-])\s+(?=[^\W\d_a-z])")
_SERIES_ALONE = re.compile(rf"[^\W\d_]{{3,12}}\s+(?:{_SERIES_NUMBER})\s*[.:–—-]?")
_NUMBER_ALONE = re.compile(r"(?:§\s*(?=\d))?(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,5}[.:)]?|[IVX]{1,6}[.:]?")


def depth_of(text: str) -> int:
    """Return the depth of the number of a heading: 1 for `3 Results` and `Chapter 3`, 2 for `3.1` and `一、`, 3 for
    `（一）`, 0 without a number.

    A single letter counts as a number only if another number follows it (`A.1`).
    """
    if rank_of(text) == 1:
        return 1
    counted = _CHINESE_NUMBER.match(text)
    if counted:
        return 3 if counted["inner"] else 2
    found = _SECTION_NUMBER.match(text)
    if not found or (found[1].isalpha() and not found[2]):
        return 0
    return found[2].count(".") + 1


def rank_of(text: str) -> int | None:
    """Return 0 for a heading that is named and numbered as a part, book, or volume, such as `Part II`, in many
    languages.

    Return 1 for a chapter or appendix, 2 for a section, and None for any other heading.
    """
    named = _NAMED_NUMBER.match(text)
    if named:
        return 0 if named["part"] else 1 if named["chapter"] else 2
    placed = _CJK_NAMED_NUMBER.match(text)
    return (0 if placed[1] else 1 if placed[2] else 2) if placed else None


def is_appendix(text: str) -> bool:
    """Return whether `text` is the numbered heading of an appendix or exhibit, such as `Annex II` or `SCHEDULE 3`."""
    return bool(_APPENDIX.match(text) and (_NAMED_NUMBER.match(text) or series_of(text)))


def number_parts(text: str) -> tuple[str, ...]:
    """Return the components of the number of a heading: (`2`, `1`) for `2.1 Method`; empty without a number.

    Unlike in `depth_of`, a single letter counts as a number: (`A`,) for `A Method`. A number after a word (`Chapter 3`)
    does not count.
    """
    found = _SECTION_NUMBER.match(text)
    return (found[1], *found[2].split(".")[1:]) if found else ()


def roman_number_of(text: str) -> str:
    """Return the Roman numeral in capitals that starts the heading `text`, or "" if there is none."""
    found = _ROMAN_NUMBER.match(text)
    return found[1] if found else ""


def with_number_space(text: str) -> str:
    """Return `text` with a space between the word and the number of its label, as in `CHAPTER 1` for `CHAPTER1`."""
    return _JOINED_NUMBER.sub(r"\1 ", text)


def is_label(text: str) -> bool:
    """Return whether `text` is only a label without a title, such as `Chapter 1`.

    Labels are those of chapters, parts, sections, articles, appendixes, and exhibits.
    """
    return bool(_LABEL.fullmatch(text))


def is_label_word(text: str) -> bool:
    """Return whether `text` is only the word of the label of a chapter, part, or appendix (`CHAPTER`)."""
    return bool(_LABEL_WORD.fullmatch(text))


def series_of(text: str) -> tuple[str, str] | None:
    """Return the series and the number that start a heading such as `Item 7A. Market Risk`, or None.

    The series is the lowercase word (`item`, `note`), or `I`, `A`, or `a` for headings like `IV. Results`, `B. Method`,
    and `a) Scope`. One such line proves nothing; see `starts_series`.
    """
    found = _SERIES.match(text)
    if found and found[1][0].isupper():
        return found[1].casefold(), found[2].upper()
    lettered = _LETTER_SERIES.match(text)
    if not lettered:
        return None
    kind = "I" if lettered[1] else "A" if lettered[2] else "a"
    return kind, lettered[1] or lettered[2] or lettered[3]


def starts_series(kind: str, numbers: Collection[str]) -> bool:
    """Return whether `numbers` are enough to prove a series of headings: `MIN_SERIES` after a word, or, for letters and
    Roman numerals, the first and one of the next two.
    """
    if len(kind) > 1:
        return len(numbers) >= MIN_SERIES
    first = ("I", "II", "III") if kind == "I" else (kind, chr(ord(kind) + 1), chr(ord(kind) + 2))
    return sum(each in numbers for each in first) >= 2 and first[0] in numbers


def is_series_label(text: str) -> bool:
    """Return whether `text` is only a capitalized word and a number (`ITEM 7A.`)."""
    return text[:1].isupper() and bool(_SERIES_ALONE.fullmatch(text))


def is_heading_number(text: str) -> bool:
    """Return whether `text` is only the number of a heading."""
    return bool(_NUMBER_ALONE.fullmatch(text))


def unnumbered(text: str) -> str:
    """Return the heading `text` without its number, or unchanged if it has no other text."""
    lettered = _CHINESE_NUMBER.match(text) or _LETTER_SERIES.match(text)
    named = _NAMED_NUMBER.match(text) or _CJK_NAMED_NUMBER.match(text) or lettered
    if named:
        return text[named.end() :].lstrip(" .:–—-") or text
    found = _SECTION_NUMBER.match(text)
    return text[found.end() :] if found else text
