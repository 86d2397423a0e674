"""Reads what a paragraph of a Word document shows: its words, and how they look."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from citekit.adapters.formats.docx.styles import Styles, said_of, value_of, whole
from citekit.adapters.libraries.mammoth import UNSEEN_STYLE
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

HEADING_LIMIT = 300
"""Maximum number of characters of a heading. A longer paragraph with a heading style is text."""


def line_of(paragraph: _Element) -> str:
    """Return the visible text of a paragraph on one line, truncated."""
    pieces = []
    for each in paragraph.iter("{*}t", "{*}tab", "{*}br"):
        if local(each) != "t":
            pieces.append(" ")
        elif not is_unseen(each.getparent()):
            pieces.append(str(each.text or ""))
    return " ".join("".join(pieces)[: 2 * HEADING_LIMIT].split())


def is_centered(paragraph: _Element, styles: Styles) -> bool:
    """Return whether a paragraph, or else its style, is centered."""
    properties = next(below(paragraph, "pPr"), None)
    own = None if properties is None else value_of(properties, "jc")
    return (styles.alignment(style_of(paragraph)) if own is None else own) == "center"


def is_bold(paragraph: _Element, styles: Styles) -> bool:
    """Return whether all text of a paragraph is bold."""
    inherited = styles.is_bold(style_of(paragraph))
    runs = [each for each in paragraph.iter("{*}r") if words_in(each)]
    return bool(runs) and all(_bold(each, inherited, styles) for each in runs)


def end_of(paragraph: _Element) -> str:
    """Return the text of the last run of a paragraph with visible text, or ""."""
    return next((words for each in reversed(list(paragraph.iter("{*}r"))) if (words := words_in(each))), "")


def _bold(run: _Element, inherited: bool, styles: Styles) -> bool:
    """Return whether a run is bold. A bold character style makes the text of a bold paragraph style regular (ECMA-376
    part 1, 17.7.3).
    """
    properties = next(below(run, "rPr"), None)
    if properties is None:
        return inherited
    said = next(below(properties, "b"), None)
    if said is not None:
        return attribute(said, "val") not in ("0", "false", "off")
    return inherited != styles.is_bold_run(value_of(properties, "rStyle") or "")


def size_of(paragraph: _Element, styles: Styles) -> int:
    """Return the font size of most of the text of the paragraph in half points."""
    usual = styles.size(style_of(paragraph)) or styles.usual_size
    sizes: Counter[int] = Counter()
    for run in paragraph.iter("{*}r"):
        properties = next(below(run, "rPr"), None)
        size = None if properties is None else whole(value_of(properties, "sz"))
        sizes[usual if size is None else size] += len(words_in(run))
    return max(sizes, key=lambda size: (sizes[size], size), default=usual)


def style_of(paragraph: _Element) -> str:
    """Return the ID of the style of a paragraph, or ""."""
    properties = next(below(paragraph, "pPr"), None)
    return "" if properties is None else value_of(properties, "pStyle") or ""


def words_in(element: _Element) -> str:
    """Return the visible text of a paragraph or run. Text beyond `HEADING_LIMIT` characters may be missing."""
    found = []
    length = 0
    for each in element.iter("{*}t"):
        if is_unseen(each.getparent()):
            continue
        found.append(str(each.text or ""))
        length += len(found[-1])
        if length > HEADING_LIMIT:
            break
    return "".join(found).strip()


def is_hidden(paragraph: _Element) -> bool:
    """Return whether a paragraph has text, all of it hidden."""
    return not words_in(paragraph) and any(is_unseen(each.getparent()) for each in paragraph.iter("{*}t"))


def is_unseen(run: _Element | None) -> bool:
    """Return whether `mark_runs` marked a run as text that readers do not see."""
    properties = None if run is None else next(below(run, "rPr"), None)
    return properties is not None and value_of(properties, "rStyle") == UNSEEN_STYLE


def is_in_table(paragraph: _Element) -> bool:
    """Return whether a paragraph is in a cell of a table."""
    return next(paragraph.iterancestors("{*}tc"), None) is not None


def begins_page(paragraph: _Element) -> bool:
    """Return whether a paragraph says that it begins a page."""
    properties = next(below(paragraph, "pPr"), None)
    return properties is not None and said_of(properties, "pageBreakBefore") is True


def has_page_break(paragraph: _Element) -> bool:
    """Return whether a paragraph contains a page break or ends a section, which begins a page."""
    return next(paragraph.iter("{*}sectPr"), None) is not None or any(
        attribute(each, "type") == "page" for each in paragraph.iter("{*}br")
    )
