"""Finds captions of figures and tables, recognized by their label and number in many languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from attrs import frozen

from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.domain.vocabulary import FIGURE, FIGURE_AFTER_NUMBER, TABLE, TABLE_AFTER_NUMBER, any_of

CAPTION_LINES = 12
"""The largest number of lines of a caption."""

CAPTION_LENGTH = 600
"""The largest number of characters of a caption."""

_NUMBER = (
    r"(?:(?<=[\s.])[A-Z]{1,2}\s?[.\-–]?\s?)?\d{1,3}(?:\s?[.\-–]\s?\d{1,3}){0,3}[a-z]?"
    r"|(?<=[\s.])(?:[IVXLC]{1,6}|[A-Z])"
)
_ENDING = r"(?P<mark>\s*[.:|]\s|\s*[.:|]?$|\s*[:|]|\s+[—–-]\s*|\.\s*(?=[^\W\d_]))|\s+(?=[^\W_])|(?=[^\W\d_a-zA-Z])"

_CAPTION = re.compile(
    rf"(?:(?i:(?P<figure>{any_of(FIGURE)})|(?P<table>{any_of(TABLE)})))\.?\s*(?P<number>{_NUMBER})(?:{_ENDING})"
)
_FIGURE_AFTER, _TABLE_AFTER = (any_of(words, accents=False) for words in (FIGURE_AFTER_NUMBER, TABLE_AFTER_NUMBER))
_REVERSED = re.compile(
    rf"(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}})\.\s*(?:(?P<figure>{_FIGURE_AFTER})|(?P<table>{_TABLE_AFTER}))(?P<mark>\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"(?:{any_of(FIGURE)}|{any_of(TABLE)}|\d[\d.]*\s*(?:{_FIGURE_AFTER}|{_TABLE_AFTER}))", re.IGNORECASE
)
_LIST_ENTRY = re.compile(r"(?:\.\s?){4,}|…{2,}|[.\s]{6,}\d{1,4}$")
_PARTICLE = re.compile(r"[はにのをでとがもよりか所显顯示中和与與是为為의은는이가을를에]")


@frozen
class Caption:
    """The caption of a figure or table: `kind` is `figure` or `table`.

    `first` and `end` are the range of its lines on the page, `end` excluded. `certain` is true if a mark such as a
    colon follows the number, which rarely happens in body text.
    """

    kind: str
    number: str
    text: str
    first: int
    end: int
    certain: bool


def captions_among(lines: Sequence[StyledLine]) -> Iterator[Caption]:
    """Yield the captions of a page in the order of its lines, except the entries of a printed list of figures."""
    after = 0
    for index in [at for at, line in enumerate(lines) if _LABEL.match(line.text)]:
        found = _caption_at(lines, index) if index >= after else None
        if found is not None:
            yield found
            after = found.end


def _caption_at(lines: Sequence[StyledLine], index: int) -> Caption | None:
    text = unicodedata.normalize("NFKC", lines[index].text[:200])
    found = _CAPTION.match(text) or _REVERSED.match(text)
    if not found or text[0].islower() or not _starts_block(lines, index):
        return None
    rest, certain = text[found.end() :], found["mark"] is not None
    if not certain and (rest[:1].islower() or _PARTICLE.match(rest)):
        return None
    after = _end(lines, index)
    whole = _join_lines(lines[index:after])
    if _LIST_ENTRY.search(whole):
        return None
    return Caption("figure" if found["figure"] else "table", found["number"], whole, index, after, certain)


def _starts_block(lines: Sequence[StyledLine], index: int) -> bool:
    """Return whether the line at `index` starts a block, or follows a gap or a change of font size or weight."""
    if not index:
        return True
    before, line = lines[index - 1], lines[index]
    if before.block != line.block or before.size != line.size or before.bold != line.bold:
        return True
    height = max(line.bottom - line.top, 1)
    return not -height < line.top - before.bottom < 0.5 * height


def _end(lines: Sequence[StyledLine], index: int) -> int:
    """Return the index after the last line of the caption that starts at `index`."""
    after, size = index + 1, lines[index].size
    while after < min(len(lines), index + CAPTION_LINES) and _continues_caption(lines[after - 1], lines[after], size):
        after += 1
    return after


def _continues_caption(before: StyledLine, line: StyledLine, size: float) -> bool:
    height = max(before.bottom - before.top, 1)
    near = line.top - before.bottom < 0.5 * height and line.bottom > before.top
    return line.block == before.block and near and abs(line.size - size) < 0.6 and not _CAPTION.match(line.text)


def _join_lines(lines: Sequence[StyledLine]) -> str:
    text = ""
    for line in lines:
        hyphen = text.endswith("-") and text[-2:-1].isalpha() and line.text[:1].islower()
        text = text[:-1] + line.text if hyphen else f"{text} {line.text}".strip()
    return text[:CAPTION_LENGTH]
