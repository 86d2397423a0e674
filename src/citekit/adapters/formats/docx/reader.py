"""Reads Word documents as books, using the library mammoth.

Each heading of the highest level starts a chapter. Text before the first such heading is a chapter, too, and so are the
comments, at the end. Locations are chapters and characters, because a document has no pages until a program lays it out
(ADR 19).
"""

from __future__ import annotations

import os
import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from citekit.adapters.formats.docx.annotations import CLASS, comments_markup
from citekit.adapters.formats.docx.looks import Looks
from citekit.adapters.formats.docx.markup import mark_notes, mark_runs, thinned
from citekit.adapters.formats.docx.numbering import Numbering
from citekit.adapters.formats.docx.styles import Styles, said_of
from citekit.adapters.formats.docx.visibility import Visibility
from citekit.adapters.formats.epub.markup_books import MarkupBook, MarkupReader, Part
from citekit.adapters.formats.epub.toc import LEVEL_LIMIT, Entry
from citekit.adapters.formats.shared.office_colors import Color, theme_colors
from citekit.adapters.formats.shared.office_metadata import facts_in
from citekit.adapters.formats.shared.titles import is_confirmed, words_of
from citekit.adapters.libraries.lxml import inner_text, local_name, parse_html
from citekit.adapters.libraries.mammoth import to_html
from citekit.adapters.libraries.office_package import OfficePackage, Relation, attribute, opened_package
from citekit.adapters.system.file_state import COARSE, FileState
from citekit.domain.errors import CiteKitError, SourceUnsupported
from citekit.domain.library.books import BookFacts

if TYPE_CHECKING:
    from lxml.etree import _Element

KEPT = 2
KEPT_SIZE = 16 * 1024 * 1024
"""The number of documents whose HTML is cached, and the maximum number of characters of HTML per document."""

BOUND_PARTS = 50
"""Maximum number of package parts with data for content controls that are read."""

CONFIRMING = 4000
"""The number of characters of HTML whose words can confirm the title in the metadata."""

FEW_WORDS = 3
"""A title in the metadata with at most this many words may be the name of an organization."""

RACY = COARSE
"""Seconds within which a file can change without a new modification time (FAT has a two-second resolution)."""

_DATA = re.compile(r"customXml/item\d+\.xml|docProps/(?:core|app)\.xml")
_PROPERTIES = {
    "docProps/core.xml": "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}",
    "docProps/app.xml": "{6668398D-A668-4E3E-A5EB-62B293D839F1}",
}
"""The IDs under which content controls are bound to the properties of a document, by package part."""

_READ = frozenset(("styles", "numbering", "footnotes", "endnotes", "comments"))
_TAG = re.compile(r"<[^>]*>")
_ARROW = re.compile(r"#note-(?:footnote|endnote)-ref-")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def docx_reader(*, as_seen: bool = False) -> MarkupReader:
    """Return a reader of Word documents. For `as_seen`, see `MarkupReader`."""
    return MarkupReader(_DOCUMENTS.load, read_facts, as_seen)


def read_facts(path: Path) -> BookFacts:
    """Return the metadata of the document at `path`.

    Raise `SourceUnsupported` if it is not a Word document, or `SourceUnreadable` if it cannot be read.
    """
    with opened_package(path) as package:
        package.main("document")
        return facts_in(package)


@define
class _Documents:
    """A thread-safe cache of documents that were converted to HTML, by the state of the file."""

    _known: OrderedDict[FileState, tuple[str, BookFacts]] = field(factory=OrderedDict)
    _lock: Lock = field(factory=Lock)

    def load(self, path: Path) -> MarkupBook:
        """Return the document at `path` as a book.

        Raise `SourceUnsupported` if it is not a Word document, is too large, or contains neither text nor images, or
        `SourceUnreadable` if it cannot be read.
        """
        html, facts = self._html(path)
        root = parse_html(html, path.name)
        body = next((each for each in root if local_name(each) == "body"), root)
        _without_arrows(body)
        _join_captions(body)
        comments = next((each for each in body if each.get("class") == CLASS), None)
        if comments is not None:
            body.remove(comments)
        parts, contents = _chapters(body)
        if comments is not None:
            comments[0].set("id", CLASS)
            parts.append(Part(CLASS, lambda: comments))
            contents.append(Entry(1, inner_text(comments[0]), CLASS, CLASS))
        roots = [part.root() for part in parts]
        if not any(inner_text(root) or root.find(".//img") is not None for root in roots):
            raise SourceUnsupported(f"{path.name} is a Word document that contains neither text nor pictures.")
        return MarkupBook(facts=facts, parts=parts, contents=contents, picture=lambda href: _picture(path, href))

    def _html(self, path: Path) -> tuple[str, BookFacts]:
        with opened_package(path) as package:
            state = FileState.of(os.stat(path))  # noqa: PTH116
            with self._lock:
                if state in self._known:
                    self._known.move_to_end(state)
                    return self._known[state]
            comments = comments_markup(package, package.main("document")[0])
            parts, title = _parts_and_title(package)
            facts = facts_in(package)
            html = to_html(parts, path.name)
            made = html + comments, evolve(facts, title=_title(facts.title, title, html))
        now = time.time()
        if len(made[0]) <= KEPT_SIZE and state.is_settled(now, RACY, now):
            with self._lock:
                self._known[state] = made
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        return made


_DOCUMENTS = _Documents()
"""The cache is shared by all readers in this process, because the conversion by mammoth is the slowest step."""


def _title(written: str | None, printed: str, html: str) -> str | None:
    """Return the title in the metadata if the first words of the document confirm it, or else the printed title. If
    there is only one of the two, return it; if there is neither, return None.

    The printed title is also preferred in two cases: if the title in the metadata has at most `FEW_WORDS` words and the
    printed title adds words to it, or if the printed title has most of its words and the document lacks the others. In
    the second case, the metadata has the title of an earlier version.
    """
    if not written or not printed:
        return written or printed or None
    wanted = set(words_of(written))
    says_more = len(words_of(written)) <= FEW_WORDS and wanted < set(words_of(printed))
    words = set(words_of(_TAG.sub(" ", html[:CONFIRMING])))
    is_other = not wanted <= words and is_confirmed(written, set(words_of(printed)))
    return written if is_confirmed(written, words) and not says_more and not is_other else printed


def _parts_and_title(package: OfficePackage) -> tuple[dict[str, bytes], str]:
    """Return the parts of the package that mammoth needs, by name, and the title that the document prints, or "".

    Images are replaced by the names of their parts, so that none is loaded.
    """
    from lxml import etree

    main, root = package.main("document")
    relations = package.relations(main)
    found = {each.kind: each.target for each in relations if each.kind in _READ and not each.outside}
    styled = package.root(found["styles"]) if "styles" in found else None
    styles, looks = Styles.of(styled), Looks.of(styled, _theme(package, main))
    lists = package.root(found["numbering"]) if "numbering" in found else None
    if lists is not None:
        looks.add_lists(lists)
    visibility = Visibility.of(looks, root, _bound_data(package), shows_background=_shows_background(package, main))
    parts = {name: package.read(name) for name in found.values()}
    title = thinned(package, main, root, styles, visibility, Numbering.of(lists))
    parts[main] = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    for name in (found[kind] for kind in ("footnotes", "endnotes") if kind in found):
        notes = package.root(name)
        mark_runs(notes, styles, visibility)
        mark_notes(notes, root)
        parts[name] = etree.tostring(notes, encoding="UTF-8", xml_declaration=True)
    for name in ("[Content_Types].xml", "_rels/.rels", *map(_relations_of, (main, *found.values()))):
        part = package.find(name)
        if part is not None:
            parts[name] = package.read(part)
    for name in (main, *found.values()):
        parts.update({each.target: each.target.encode() for each in package.relations(name) if _is_picture(each)})
    return parts, title


def _theme(package: OfficePackage, main: str) -> dict[str, Color]:
    """Return the colors of the theme, or none if it is damaged, because Word opens such documents."""
    try:
        return theme_colors(package, main)
    except CiteKitError:
        return {}


def _bound_data(package: OfficePackage) -> dict[str, str]:
    """Return the texts of the data parts that content controls can be bound to, by ID, without whitespace."""
    names = [name for name in package.names if _DATA.fullmatch(name)]
    found = {}
    for name in names[:BOUND_PARTS]:
        try:
            properties = [each.target for each in package.relations(name) if each.kind == "customXmlProps"]
            key = attribute(package.root(properties[0]), "itemID") if properties else _PROPERTIES.get(name)
            found[(key or name).upper()] = "".join("".join(map(str, package.root(name).itertext())).split())
        except CiteKitError:  # damaged data is not shown either
            continue
    return found


def _shows_background(package: OfficePackage, main: str) -> bool:
    """Return whether the settings of a document show the color of its pages (17.15.1.25)."""
    settings = [each.target for each in package.relations(main) if each.kind == "settings" and not each.outside]
    return bool(settings) and said_of(package.root(settings[0]), "displayBackgroundShape") is True


def _relations_of(name: str) -> str:
    folder, _, last = name.rpartition("/")
    return f"{folder}/_rels/{last}.rels" if folder else f"_rels/{last}.rels"


def _is_picture(relation: Relation) -> bool:
    return relation.kind == "image" and not relation.outside


def _picture(path: Path, name: str) -> tuple[bytes, str] | None:
    try:
        with opened_package(path) as package:
            part = package.find(name)
            return None if part is None or not part.startswith("word/") else (package.read(part), "")
    except CiteKitError:
        return None


def _without_arrows(body: _Element) -> None:
    """Remove the arrows that mammoth adds to notes. The document does not contain them."""
    for arrow in [each for each in body.iter("a") if _ARROW.match(each.get("href") or "") and each.text == "\u2191"]:
        before, parent = arrow.getprevious(), arrow.getparent()
        if parent is None:
            continue
        if before is not None:
            before.tail = (before.tail or "").rstrip() + (arrow.tail or "")
        else:
            parent.text = (parent.text or "").rstrip() + (arrow.tail or "")
        parent.remove(arrow)


def _join_captions(body: _Element) -> None:
    """Move captions into tables and figures: a table below or an image above, or else a table above or an image below."""
    captions = [each for each in body if local_name(each) == "p" and each.get("class") == "caption"]
    for caption in captions:
        before, after = caption.getprevious(), caption.getnext()
        if after is not None and local_name(after) == "table":
            _into_table(caption, after, 0)
        elif before is not None and _is_figure(before):
            _into_figure(caption, before)
        elif before is not None and local_name(before) == "table" and before.find("caption") is None:
            _into_table(caption, before, len(before))
        elif after is not None and _is_figure(after):
            _into_figure(caption, after)


def _is_figure(element: _Element) -> bool:
    """Return whether a paragraph contains an image and no text."""
    return local_name(element) == "p" and element.find(".//img") is not None and not inner_text(element)


def _into_table(caption: _Element, table: _Element, place: int) -> None:
    if table.find("caption") is None:
        caption.tag = "caption"
        caption.attrib.clear()
        table.insert(place, caption)


def _into_figure(caption: _Element, picture: _Element) -> None:
    """Move the paragraph `picture` and its caption into a new figure element, in their original order."""
    from lxml import etree

    parent = picture.getparent()
    if parent is None:
        return
    first = parent.index(caption) < parent.index(picture)
    figure = etree.Element("figure")
    parent.insert(min(parent.index(caption), parent.index(picture)), figure)
    caption.tag = "figcaption"
    caption.attrib.clear()
    figure.extend([caption, picture] if first else [picture, caption])


def _chapters(body: _Element) -> tuple[list[Part], list[Entry]]:
    """Return the chapters, which begin at the headings of the highest level, and the table of contents."""
    levels = [_HEADINGS[local_name(each)] for each in body if local_name(each) in _HEADINGS]
    top = min(levels, default=0)
    groups: list[list[_Element]] = []
    for each in [*body]:
        if not groups or _HEADINGS.get(local_name(each)) == top:
            groups.append([])
        groups[-1].append(each)
    parts, contents = [], []
    for number, group in enumerate(groups, 1):
        root = _gathered(group)
        name = f"chapter-{number}"
        contents += _entries(root, name, top)
        parts.append(Part(name, lambda root=root: root))  # type: ignore[misc]
    return parts, contents


def _gathered(group: Sequence[_Element]) -> _Element:
    from lxml import etree

    root = etree.Element("div")
    root.extend(group)
    return root


def _entries(root: _Element, name: str, top: int) -> list[Entry]:
    """Return the table of contents entries of the chapter `name`, and set the IDs to which they link.

    `top` is the highest heading level of the document.
    """
    found = []
    for number, each in enumerate([each for each in root.iter() if local_name(each) in _HEADINGS], 1):
        title = inner_text(each)
        if title:
            mark = f"{name}-{number}"
            each.set("id", mark)
            level = int((each.get("class") or "").removeprefix("level-") or _HEADINGS[local_name(each)])
            found.append(Entry(max(1, min(level - top + 1, LEVEL_LIMIT)), title, name, mark))
    return found
