"""Prepares the markup of a Word document for the library mammoth, which converts it to HTML.

Makes heading levels explicit, marks hidden, superscript, and subscript runs that mammoth does not detect, and removes
markup other than text. The level of a heading is its outline level (ECMA-376 part 1, 17.3.1.20), set in the paragraph,
in its style, or in a style on which its style is based.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from citekit.adapters.formats.docx.false_headings import false_headings
from citekit.adapters.formats.docx.fields import flatten_fields
from citekit.adapters.formats.docx.numbering import Numbering
from citekit.adapters.formats.docx.opening import OPENING_LIMIT, Line, printed_title
from citekit.adapters.formats.docx.styles import BODY, Styles, outline_level, value_of, whole
from citekit.adapters.formats.docx.visibility import Visibility
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.mammoth import UNSEEN_STYLE
from citekit.adapters.libraries.office_package import OfficePackage, attribute, below, local
from citekit.domain.errors import SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import _Element


_NOTES = frozenset(("footnoteReference", "endnoteReference"))
"""Elements that are superscripts regardless of their style."""


def mark_runs(root: _Element, styles: Styles, visibility: Visibility) -> None:
    """Apply the style `UNSEEN_STYLE` to the runs below `root` that readers do not see.

    Other runs, except note references, get the vertical alignment of their style if they have none of their own.
    """
    unseen = visibility.unseen(root)
    for run in root.iter("{*}r"):
        properties = next(below(run, "rPr"), None)
        if run in unseen:
            _set(run, properties, "rStyle", UNSEEN_STYLE)
            continue
        style = "" if properties is None else value_of(properties, "rStyle") or ""
        height = styles.height(style) if style else None
        if height and (properties is None or value_of(properties, "vertAlign") is None) and not _is_note(run):
            _set(run, properties, "vertAlign", height)


def mark_notes(notes: _Element, body: _Element) -> None:
    """Apply the style `UNSEEN_STYLE` to the runs of notes that have no visible reference in `body`."""
    references = [each for each in body.iter() if local(each) in _NOTES and not _is_unseen(each.getparent())]
    seen = {attribute(each, "id") for each in references}
    for note in notes:
        if attribute(note, "id") not in seen:
            for run in note.iter("{*}r"):
                _set(run, next(below(run, "rPr"), None), "rStyle", UNSEEN_STYLE)


def _remove_repeated_notes(body: _Element) -> None:
    """Remove references to notes that are already referenced, because the HTML would repeat the note for each of them."""
    seen: set[tuple[str, str | None, bool]] = set()
    for each in [each for each in body.iter() if local(each) in _NOTES]:
        run = each.getparent()
        key = local(each), attribute(each, "id"), _is_unseen(run)
        if run is not None and (key in seen or (*key[:2], False) in seen):
            run.remove(each)
        seen.add(key)


def _is_note(run: _Element) -> bool:
    return any(local(each) in _NOTES for each in run)


def _set(run: _Element, properties: _Element | None, name: str, value: str) -> None:
    from lxml import etree

    space = str(run.tag).rpartition("}")[0] + "}"
    if properties is None:
        properties = etree.Element(f"{space}rPr")
        run.insert(0, properties)
    for each in list(below(properties, name)):
        properties.remove(each)
    made = etree.Element(f"{space}{name}")
    made.set(f"{space}val", value)
    properties.insert(0, made)


MARKUP_LIMIT = 48 * 1024 * 1024
"""The maximum size in bytes of a document body that is read. A page takes about 20,000 bytes."""

HEADING_LIMIT = 300
"""Maximum number of characters of a heading. A longer paragraph with a heading style is text."""

TEXT_STYLE = "citekit-text"
"""The style of text whose own style must not apply: mammoth knows the names of the built-in headings and captions."""

LOOK_LIMIT = 100
"""Maximum number of characters of a bold line that counts as a heading without heading styles."""

SAMPLE = 2000
"""The number of paragraphs from which the size of body text is determined."""

LOOK_BACK = 3
"""The number of paragraphs before a line that are searched for a page number."""

_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s")
"""Matches the number of a heading below another heading, such as `3.1`."""

_GONE = names(
    """
    proofErr bookmarkStart bookmarkEnd lastRenderedPageBreak sectPr del moveFrom permStart permEnd commentRangeStart
    commentRangeEnd moveToRangeStart moveToRangeEnd moveFromRangeStart moveFromRangeEnd rPrChange pPrChange tblPrChange
    tcPrChange trPrChange annotationRef spacing ind jc tabs rFonts lang color sz szCs tblBorders tblLook shd
    """
)
"""Elements without text to read, and elements that only affect appearance."""


def thinned(
    package: OfficePackage, part: str, root: _Element, styles: Styles, visibility: Visibility, numbering: Numbering
) -> str:
    """Mark the hidden runs, headings, captions, and titles of the document body `root`, in place, write the numbers of
    headings before them, and remove unneeded markup.

    Return the title that the document prints, or "". `part` is the name of the package part that contains the body.
    Raise `SourceUnsupported` if this part is larger than `MARKUP_LIMIT` bytes.
    """
    if package.size(part) > MARKUP_LIMIT:
        raise SourceUnsupported(
            f"{package.path.name} has more than {MARKUP_LIMIT >> 20} MB of markup, the limit for Word documents; split it "
            "into smaller documents."
        )
    paragraphs = [each for each in root.iter("{*}p") if each.tag == root.tag.rpartition("}")[0] + "}p"]
    mark_runs(root, styles, visibility)
    flatten_fields(root)
    _remove_repeated_notes(root)
    levels = _without_false(paragraphs, [_paragraph_level(each, styles) for each in paragraphs])
    title = _printed_title(paragraphs, levels, styles)
    if all(level == BODY for level in levels):
        levels = _without_false(paragraphs, _by_look(paragraphs, styles))
    numbers = numbering.numbers(paragraphs, styles)
    for at, (paragraph, level) in enumerate(zip(paragraphs, levels, strict=True)):
        _mark(paragraph, level, styles)
        if level < BODY and at in numbers:
            _write_before(paragraph, f"{numbers[at]} ")
    for each in [each for each in root.iter() if local(each) in _GONE]:
        parent = each.getparent()
        if parent is not None:
            parent.remove(each)
    return title


def _printed_title(paragraphs: Sequence[_Element], levels: Sequence[int], styles: Styles) -> str:
    """Return the title that the document prints; see `opening`."""
    sizes: Counter[int] = Counter()
    texts = list(islice(((at, text) for at, each in enumerate(paragraphs) if (text := _line_of(each))), SAMPLE))
    for at, text in texts:
        sizes[_size(paragraphs[at], styles)] += len(text)
    if not sizes:
        return ""
    lines, before = [], -1
    for index, (at, text) in enumerate(texts[:OPENING_LIMIT]):
        paragraph, level = paragraphs[at], levels[at]
        key = _style_of(paragraph)
        if styles.is_called(key, "caption") or next(paragraph.iterancestors("{*}tc"), None) is not None:
            continue
        following = next((levels[later] for later, _ in texts[index + 1 : index + 2]), BODY)
        alone = level < BODY and levels.count(level) == 1
        lines.append(
            Line(
                text,
                _size(paragraph, styles),
                level,
                bold=_is_bold(paragraph, styles),
                centered=_is_centered(paragraph, styles),
                title_style=key if level == BODY and styles.is_called(key, "title") else "",
                follows=at == before + 1,
                holds_text=level < BODY and not alone and (following == BODY or following > level),
            )
        )
        before = at
    return printed_title(lines, sizes.most_common(1)[0][0])


def _line_of(paragraph: _Element) -> str:
    """Return the visible text of a paragraph on one line, truncated."""
    pieces = []
    for each in paragraph.iter("{*}t", "{*}tab", "{*}br"):
        if local(each) != "t":
            pieces.append(" ")
        elif not _is_unseen(each.getparent()):
            pieces.append(str(each.text or ""))
    return " ".join("".join(pieces)[: 2 * HEADING_LIMIT].split())


def _is_centered(paragraph: _Element, styles: Styles) -> bool:
    properties = next(below(paragraph, "pPr"), None)
    own = None if properties is None else value_of(properties, "jc")
    return (styles.alignment(_style_of(paragraph)) if own is None else own) == "center"


def _is_bold(paragraph: _Element, styles: Styles) -> bool:
    """Return whether all text of a paragraph is bold."""
    inherited = styles.is_bold(_style_of(paragraph))
    runs = [each for each in paragraph.iter("{*}r") if _words(each)]
    return bool(runs) and all(_bold(each, inherited) for each in runs)


def _paragraph_level(paragraph: _Element, styles: Styles) -> int:
    properties = next(below(paragraph, "pPr"), None)
    own = None if properties is None else outline_level(properties)
    key = _style_of(paragraph)
    level = styles.level(key) if own is None else own
    return level if level < BODY and 0 < len(_words(paragraph)) <= HEADING_LIMIT else BODY


def _without_false(paragraphs: Sequence[_Element], levels: Sequence[int]) -> list[int]:
    """Return the levels of headings without those of `false_headings`."""
    headings = {at: _line_of(paragraphs[at]) for at, level in enumerate(levels) if level < BODY}
    false = false_headings(
        headings,
        {at: _style_of(paragraphs[at]) for at in headings},
        lambda at: _line_of(paragraphs[at]) if at < len(paragraphs) else "",
        lambda at: next(filter(None, map(_end_of, paragraphs[max(at - LOOK_BACK, 0) : at][::-1])), ""),
    )
    return [BODY if at in false else level for at, level in enumerate(levels)]


def _end_of(paragraph: _Element) -> str:
    """Return the text of the last run of a paragraph with visible text, or ""."""
    return next((words for each in reversed(list(paragraph.iter("{*}r"))) if (words := _words(each))), "")


def _by_look(paragraphs: list[_Element], styles: Styles) -> list[int]:
    """Return the heading level of each paragraph of a document that has no heading styles, by font size and by numbers
    such as 3.1.

    Short bold lines outside tables are headings, unless they are more than half of the lines.
    """
    levels = [BODY] * len(paragraphs)
    bold = {at: _size(each, styles) for at, each in enumerate(paragraphs) if _looks_like_heading(each, styles)}
    if not bold or len(bold) * 2 > sum(1 for each in paragraphs if _words(each)):
        return levels
    sizes = sorted(set(bold.values()), reverse=True)
    above = 0
    for at, size in bold.items():
        levels[at] = min(sizes.index(size), 5)
        numbered = _NUMBER.match(_words(paragraphs[at]))
        depth = numbered[0].strip(". ").count(".") if numbered else 0
        if depth:
            levels[at] = min(max(levels[at], above + depth), 5)
        else:
            above = levels[at]
    return levels


def _looks_like_heading(paragraph: _Element, styles: Styles) -> bool:
    parent = paragraph.getparent()
    words = _words(paragraph)
    if parent is None or local(parent) != "body" or not 2 < len(words) <= LOOK_LIMIT or words[-1] in ".,;:":
        return False
    properties = next(below(paragraph, "pPr"), None)
    if properties is not None and next(below(properties, "numPr"), None) is not None:
        return False
    return _is_bold(paragraph, styles) and any(c.isalpha() for c in words)


def _bold(run: _Element, inherited: bool) -> bool:
    properties = next(below(run, "rPr"), None)
    said = None if properties is None else next(below(properties, "b"), None)
    return inherited if said is None else attribute(said, "val") not in ("0", "false", "off")


def _size(paragraph: _Element, styles: Styles) -> int:
    """Return the font size of most of the text of the paragraph in half points."""
    usual = styles.size(_style_of(paragraph)) or styles.usual_size
    sizes: Counter[int] = Counter()
    for run in paragraph.iter("{*}r"):
        properties = next(below(run, "rPr"), None)
        size = None if properties is None else whole(value_of(properties, "sz"))
        sizes[usual if size is None else size] += len(_words(run))
    return max(sizes, key=lambda size: (sizes[size], size), default=usual)


def _mark(paragraph: _Element, level: int, styles: Styles) -> None:
    """Give a paragraph the style for its role: heading of `level`, text, caption, or title."""
    properties = next(below(paragraph, "pPr"), None)
    key = _style_of(paragraph)
    if level < BODY:
        name = f"citekit-{level + 1}"
    elif _is_hidden(paragraph):
        name = TEXT_STYLE
    elif key and styles.is_called(key, "caption"):
        name = "citekit-caption"
    elif key and styles.is_called(key, "title"):
        name = "citekit-title"
    elif styles.level(key) < BODY:
        name = TEXT_STYLE
    else:
        return
    _set_style(paragraph, properties, name)


def _write_before(paragraph: _Element, text: str) -> None:
    """Write a run of text at the beginning of a paragraph, which has properties."""
    from lxml import etree

    space = str(paragraph.tag).rpartition("}")[0] + "}"
    run = etree.Element(f"{space}r")
    etree.SubElement(run, f"{space}t").text = text
    paragraph.insert(1, run)


def _set_style(paragraph: _Element, properties: _Element | None, name: str) -> None:
    from lxml import etree

    space = str(paragraph.tag).rpartition("}")[0] + "}"
    if properties is None:
        properties = etree.Element(f"{space}pPr")
        paragraph.insert(0, properties)
    for each in [each for each in properties if local(each) in ("pStyle", "numPr")]:
        properties.remove(each)
    style = etree.Element(f"{space}pStyle")
    style.set(f"{space}val", name)
    properties.insert(0, style)


def _style_of(paragraph: _Element) -> str:
    properties = next(below(paragraph, "pPr"), None)
    return "" if properties is None else value_of(properties, "pStyle") or ""


def _words(element: _Element) -> str:
    """Return the visible text of a paragraph or run. Text beyond `HEADING_LIMIT` characters may be missing."""
    found = []
    length = 0
    for each in element.iter("{*}t"):
        if _is_unseen(each.getparent()):
            continue
        found.append(str(each.text or ""))
        length += len(found[-1])
        if length > HEADING_LIMIT:
            break
    return "".join(found).strip()


def _is_hidden(paragraph: _Element) -> bool:
    """Return whether a paragraph has text, all of it hidden."""
    return not _words(paragraph) and any(_is_unseen(each.getparent()) for each in paragraph.iter("{*}t"))


def _is_unseen(run: _Element | None) -> bool:
    properties = None if run is None else next(below(run, "rPr"), None)
    return properties is not None and value_of(properties, "rStyle") == UNSEEN_STYLE
