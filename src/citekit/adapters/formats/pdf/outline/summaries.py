"""Creates summaries of sections from the first sentence of body text below their heading."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.heading_location import Section, line_index_of, top_of
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.domain.vocabulary import CAPTION, any_of

MIN_SENTENCE = 30
"""The minimum number of characters of a paragraph of body text, and of a sentence that can stand alone.

A shorter sentence is joined with the next.
"""

MAX_PARAGRAPHS = 12
"""The maximum number of paragraphs that are searched."""

DROP_CAP_RATIO = 1.8
"""The minimum size of a large first letter, as a multiple of the size of its paragraph."""

IDEOGRAPHS_OF_PROSE = 10
"""The minimum number of ideographs, kana, or hangul in a Chinese, Japanese, or Korean paragraph."""

_LEADER = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{4,}")
_CAPTION = re.compile(rf"(?:{any_of(CAPTION)})\s*\d", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W\d_a-z])|(?<=[。！？])")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|fig|figs|eq|no|vol|pp|p|dr|mr|mrs|ms|prof|st|jr|sec|ch|ca|z\.b)|\b\w)\.$", re.I
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NAME_OF_CODE = re.compile(r"\w+(?:[.@-]\w+)*[.@]\w{2,}\s|[\w.]+\(\)\s")
"""A function or a host, such as `as.list` or `attach()`, before the rest of a sentence."""

_LETTERS: Lazy[int, int | None] = Lazy(lambda code: code if chr(code).isalpha() or chr(code).isspace() else None)


def first_sentence(lines: Sequence[StyledLine]) -> str | None:
    """Return the first sentence of body text in `lines`, or else the first paragraph of body text, or None."""
    spare: str | None = None
    for number, paragraph in enumerate(_paragraphs(lines)):
        if number >= MAX_PARAGRAPHS:
            break
        if paragraph[0].islower() and not _starts_with_name(
            paragraph
        ):  # the end of a sentence from another column or page
            paragraph = _rest_of(paragraph)
        if not _is_prose(paragraph):
            continue
        if re.search(r"[.!?。！？:]", paragraph):
            return _first_sentence_of(paragraph)
        spare = spare or paragraph
    return spare


def _paragraphs(lines: Sequence[StyledLine]) -> Iterator[str]:
    """Yield the text of each paragraph: successive lines of one size and weight that are close together."""
    text, previous = "", None
    for line in lines[:200]:
        if previous is not None and _is_drop_cap(previous, line):
            text += line.text
        elif previous is not None and not _continues_paragraph(previous, line):
            yield text
            text = line.text
        else:
            text = _join(text, line.text)
        previous = line
    if text:
        yield text


def _continues_paragraph(previous: StyledLine, line: StyledLine) -> bool:
    if abs(previous.size - line.size) > 1 or previous.bold != line.bold:
        return False
    height = max(previous.bottom - previous.top, 1)
    beside = abs(line.top - previous.top) < height / 2
    return beside or (line.bottom - previous.bottom >= 0 and line.top - previous.bottom < 0.6 * height)


def _is_drop_cap(initial: StyledLine, line: StyledLine) -> bool:
    """Return whether `initial` is the large first letter of a paragraph, next to its first line, `line`."""
    beside = initial.top - line.size < line.top < initial.bottom and line.left >= initial.left
    return len(initial.text) == 1 and initial.text.isupper() and initial.size >= DROP_CAP_RATIO * line.size and beside


def _join(text: str, more: str) -> str:
    if not text:
        return more
    if text.endswith("\u00ad") or (text.endswith("-") and more[:1].islower() and text[-2:-1].isalpha()):
        return text[:-1] + more
    return text + more if _IDEOGRAPH.match(text[-1]) and _IDEOGRAPH.match(more[0]) else f"{text} {more}"


def _is_prose(paragraph: str) -> bool:
    letters = len(paragraph.translate(_LETTERS))
    if _LEADER.search(paragraph) or _CAPTION.match(paragraph) or letters < 0.7 * len(paragraph):
        return False
    if len(_IDEOGRAPH.findall(paragraph)) >= IDEOGRAPHS_OF_PROSE:
        return True
    return len(paragraph) >= MIN_SENTENCE and len(paragraph.split()) >= 5


def _starts_with_name(paragraph: str) -> bool:
    """Return whether a paragraph may start with a lowercase letter: it is Chinese, Japanese, or Korean, or starts with
    code.
    """
    return bool(_NAME_OF_CODE.match(paragraph)) or len(_IDEOGRAPH.findall(paragraph)) >= IDEOGRAPHS_OF_PROSE


def _rest_of(paragraph: str) -> str:
    """Return a paragraph without its first sentence."""
    ends = (end for end in _END.finditer(paragraph) if not _ABBREVIATED.search(paragraph[: end.start()]))
    end = next(ends, None)
    return "" if end is None else paragraph[end.end() :].strip()


def _first_sentence_of(paragraph: str) -> str:
    taken, start = "", 0
    for end in _END.finditer(paragraph):
        taken = paragraph[: end.start()].strip()
        ideographic = bool(_IDEOGRAPH.search(taken))
        if _ABBREVIATED.search(taken) or (len(taken) < MIN_SENTENCE and not (ideographic and len(taken) >= 10)):
            continue
        start = len(taken)
        break
    return taken if start else paragraph


SUMMARY_LINES = 120
"""The maximum number of lines of a page that are searched for a summary."""

TITLES_PER_PAGE = 40
"""The maximum number of headings of one page that are matched with its lines."""


def heading_lines(sections: Sequence[Section], texts: PageTexts) -> Mapping[int, frozenset[int]]:
    """Return a mapping, filled when needed, from each page to the indexes of the lines that print the titles of its
    sections.
    """
    titles: dict[int, list[str]] = {}
    for section in sections:
        titles.setdefault(section.page, []).append(section.title)

    def on(page: int) -> frozenset[int]:
        own = titles.get(page, [])[:TITLES_PER_PAGE]
        return frozenset(at for title in own for at in texts.lines_matching(title, page))

    return Lazy(on)


def summary_of(
    section: Section, following: Section | None, last: int, texts: PageTexts, headings: Mapping[int, frozenset[int]]
) -> str | None:
    """Return the first sentence between the section's heading and that of `following`, skipping other headings; None if
    there is no body text.

    `last` is the section's last page. If few lines follow the heading, the next page is searched, too.
    """
    below, own = _line_indexes_below(section, following, texts)[:SUMMARY_LINES], headings[section.page]
    lines = texts.lines(section.page)
    text = [lines[at] for at in below if at not in own]
    if len(below) < 4 and last > section.page:
        other = headings[section.page + 1]
        text += [line for at, line in enumerate(texts.lines(section.page + 1)[:SUMMARY_LINES]) if at not in other]
    return first_sentence(text)


def _line_indexes_below(section: Section, following: Section | None, texts: PageTexts) -> Sequence[int]:
    """Return the indexes of the lines between the section's heading and the heading of `following`, or the page's end.

    If the heading is found, these are the lines after it in file order, which keeps columns separate.
    """
    lines = texts.lines(section.page)
    here = line_index_of(section, texts)
    if following is None or following.page != section.page:
        stop, end = math.inf, len(lines)
    else:
        found = line_index_of(following, texts)
        stop, end = top_of(following, texts), len(lines) if found is None else found
    if here is not None and end > here:
        return range(here + 1, end)
    start = top_of(section, texts)
    return [at for at, line in enumerate(lines) if _is_between(line, start, stop)]


def _is_between(line: StyledLine, start: float, stop: float) -> bool:
    below = not math.isfinite(start) or line.bottom > start + 2
    return below and (not math.isfinite(stop) or stop <= start or line.top < stop - 2)
