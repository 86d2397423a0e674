"""Prepares the markup of a Word document for the library mammoth, which converts it to HTML.

Makes heading levels explicit, marks hidden, superscript, and subscript runs that mammoth does not detect, and removes
markup other than text. The level of a heading is its outline level (ECMA-376 part 1, 17.3.1.20), set in the paragraph,
in its style, or in a style on which its style is based.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.docx.fields import flatten_fields
from citekit.adapters.formats.docx.headings import common_size, large_title, levels_and_title
from citekit.adapters.formats.docx.numbering import Numbering
from citekit.adapters.formats.docx.paragraphs import is_hidden, is_unseen, style_of
from citekit.adapters.formats.docx.styles import BODY, Styles, said_of, value_of
from citekit.adapters.formats.docx.visibility import Visibility
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.mammoth import UNSEEN_STYLE
from citekit.adapters.libraries.office_package import OfficePackage, attribute, below, local
from citekit.domain.errors import CiteKitError, SourceUnsupported

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
    references = [each for each in body.iter() if local(each) in _NOTES and not is_unseen(each.getparent())]
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
        key = local(each), attribute(each, "id"), is_unseen(run)
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

TEXT_STYLE = "citekit-text"
"""The style of text whose own style must not apply: mammoth knows the names of the built-in headings and captions."""

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
    levels, title = levels_and_title(paragraphs, styles)
    if not title:
        title = _header_title(package, part, root, styles, visibility)
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


def _header_title(package: OfficePackage, part: str, root: _Element, styles: Styles, visibility: Visibility) -> str:
    """Return the title in the header of the first page, or "" if there is none or it is damaged."""
    section = next(root.iter("{*}sectPr"), None)
    if section is None:
        return ""
    kind = "first" if said_of(section, "titlePg") else "default"
    wanted = {attribute(each, "id") for each in below(section, "headerReference") if attribute(each, "type") == kind}
    try:
        targets = [each.target for each in package.relations(part) if each.id in wanted and not each.outside]
        header = package.root(targets[0]) if targets else None
    except CiteKitError:
        return ""
    if header is None:
        return ""
    mark_runs(header, styles, visibility)
    return large_title(list(header.iter("{*}p")), common_size(list(root.iter("{*}p")), styles), styles)


def _mark(paragraph: _Element, level: int, styles: Styles) -> None:
    """Give a paragraph the style for its role: heading of `level`, text, caption, or title."""
    properties = next(below(paragraph, "pPr"), None)
    key = style_of(paragraph)
    if level < BODY:
        name = f"citekit-{level + 1}"
    elif is_hidden(paragraph):
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
