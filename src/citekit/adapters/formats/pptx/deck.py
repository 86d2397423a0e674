"""Writes a presentation that contains only some of the slides, without the package parts that only other slides use.

Data about the whole presentation (statistics, thumbnail, custom shows, revisions), macros, and custom data are omitted,
and so is what could load something or run a program: external pictures and media, embedded objects and controls, and
links other than those to the web, to people, and to slides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import join, relpath, split
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import escape

from attrs import define, field

from citekit.adapters.formats.shared.reproducible_zip import still_archive
from citekit.adapters.formats.shared.safe_links import is_safe_link
from citekit.adapters.libraries.lxml import parse_xml
from citekit.adapters.libraries.office_package import OfficePackage, Relation, below, local, reference
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from lxml.etree import _Element

_OF_PACKAGE = frozenset(("officeDocument", "core-properties"))
_NEVER = frozenset(("vbaProject", "revisionInfo", "changesInfo", "printerSettings", "customXml", "handoutMaster"))
"""Types of relationships of the presentation that are always omitted."""

_AS_NEEDED = frozenset(("slide", "slideMaster", "notesMaster"))
"""Types of relationships of the presentation that are kept only if a slide needs the target."""

_PASSIVE = frozenset((
    "slide", "slideLayout", "slideMaster", "notesSlide", "notesMaster", "theme", "themeOverride", "presProps",
    "viewProps", "tableStyles", "font", "tags", "image", "hdphoto", "audio", "video", "media", "chart", "chartEx",
    "chartUserShapes", "chartStyle", "chartColorStyle", "comments", "commentAuthors", "diagramData", "diagramLayout",
    "diagramQuickStyle", "diagramColors", "diagramDrawing", "hyperlink", "sensitivityLabels", "authors",
))  # fmt: skip
"""Types of relationships whose targets only show something (ECMA-376 part 1, 13 to 15), so that they are kept."""

_EMBEDDED = frozenset(("oleObject", "package", "control"))

_WORKBOOK = ".xlsx"
"""The suffix of the embedded packages that are kept: workbooks without macros, as in charts."""

_REFERENCES = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_REFERENCES = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"

_BINARY = frozenset(("image", "hdphoto", "audio", "video", "media", "font", "package"))
"""Types of relationships whose targets are copied without parsing."""

_LINK = "hlink"
"""The start of the names of elements with an action: `hlinkClick`, `hlinkHover`, and `hlinkMouseOver`."""

_NAVIGATION = re.compile(
    r"(?:ppaction://(?:hlinksldjump|hlinkshowjump|noaction|media)(?:\?.*)?)?", re.IGNORECASE | re.DOTALL
)
"""The actions of shapes that only navigate within the presentation or play its media (MS-OE376, 2.1.1316)."""

_ASCII_COMPATIBLE = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*<(?!\?xml[^>]*\bencoding\s*=\s*["'](?!utf-8["']|us-ascii["']))""", re.IGNORECASE
)
"""Matches the start of an XML part in which element names have the same bytes as in ASCII."""

_MACROS = ".macroEnabled.main+xml"
_PLAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


def write_deck(package: OfficePackage, location: Pages, target: Path, progress: Progress) -> bool:
    """Write a presentation with only the slides of `location` to `target`.

    Return whether anything that could load something or run a program was omitted from the parts that the slides need.
    Raise `LocationOutside` if a slide does not exist, `SourceUnsupported` if the presentation is damaged, or `HomeUnwritable`
    if `target` cannot be written.
    """
    deck = _Deck.of(package, location)
    names = list(deck.kept)
    with still_archive(target) as archive:
        archive.add("[Content_Types].xml", [deck.content_types()])
        archive.add("_rels/.rels", [_relations_xml("", deck.of_package())])
        for done, name in enumerate(names):
            progress(done, len(names), "copying parts")
            archive.add(name, [deck.rewritten[name]] if name in deck.rewritten else package.stream(name))
            if deck.kept[name]:
                folder, last = split(name)
                archive.add(join(folder, "_rels", f"{last}.rels"), [_relations_xml(folder, deck.kept[name])])
    return deck.was_active


@define
class _Deck:
    """The new presentation: its parts with their relationships (`kept`), and the bytes of changed parts (`rewritten`)."""

    package: OfficePackage
    main: str
    slides: set[str]
    kept: dict[str, list[Relation]] = field(factory=dict)
    rewritten: dict[str, bytes] = field(factory=dict)
    was_active: bool = False
    _checked: set[str] = field(factory=set)

    @classmethod
    def of(cls, package: OfficePackage, location: Pages) -> _Deck:
        main, root = package.main("presentation")
        relations = package.relations(main)
        targets = {each.id: each.target for each in relations if each.kind == "slide" and not each.outside}
        listed = [each for group in below(root, "sldIdLst") for each in below(group, "sldId")]
        _check_inside(location, len(listed))
        wanted = [listed[number - 1] for number in location.numbers]
        missing = [each for each in wanted if reference(each) not in targets]
        if missing:
            raise SourceUnsupported(f"{package.path.name} is damaged: a slide is listed but missing from the file.")
        deck = cls(package, main, {targets[reference(each)] for each in wanted})
        deck._gather(root, relations, {str(each.get("id")) for each in wanted})
        return deck

    def of_package(self) -> list[Relation]:
        """Return the package-level relationships that the new presentation keeps."""
        found = [each for each in self.package.relations() if each.kind in _OF_PACKAGE and not each.outside]
        return [each for each in found if each.kind != "officeDocument" or each.target == self.main]

    def content_types(self) -> bytes:
        """Return the content types part for the kept parts, as XML (ECMA-376 part 2, 7.2.3)."""
        part = self.package.find("[Content_Types].xml")
        root = [] if part is None else list(self.package.root(part))
        lines = []
        for each in root:
            name, extension = str(each.get("PartName") or ""), str(each.get("Extension") or "")
            kind = str(each.get("ContentType") or "")
            kind = _PLAIN if kind.endswith(_MACROS) and name.lstrip("/") == self.main else kind
            if extension:
                lines.append(f"<Default Extension={_quoted(extension)} ContentType={_quoted(kind)}/>")
            elif self.package.find(name.lstrip("/")) in self.kept:
                lines.append(f"<Override PartName={_quoted(name)} ContentType={_quoted(kind)}/>")
        return f'{_HEADER}<Types xmlns="{_TYPES}">{"".join(lines)}</Types>'.encode()

    def _gather(self, root: _Element, relations: list[Relation], ids: set[str]) -> None:
        """Collect the parts that the kept slides need and the parts of the presentation itself."""
        self.kept[self.main] = []
        for name in sorted(self.slides):
            self._follow(name)
        keeping = [
            each
            for each in relations
            if not each.outside
            and each.kind in _PASSIVE
            and (each.target in self.kept if each.kind in _AS_NEEDED else each.kind not in _NEVER)
        ]
        for each in keeping:
            self._follow(each.target)
        self.kept[self.main] = keeping
        for each in self.of_package():
            self.kept.setdefault(each.target, [])
        self.rewritten[self.main] = _presentation(root, {each.id for each in keeping}, ids)
        self._trim_masters()

    def _follow(self, name: str) -> None:
        """Keep a part and the parts that it needs. A slide master does not need its layouts."""
        pending = [(name, True)]
        while pending:
            part, is_markup = pending.pop()
            if part not in self.kept:
                every = self.package.relations(part)
                relations = [each for each in every if self._belongs(each)]
                self.kept[part] = relations
                omitted = [each for each in every if each not in relations]
                self.was_active = self.was_active or any(each.outside or each.kind in _EMBEDDED for each in omitted)
                is_master = {"theme", "slideLayout"} <= {each.kind for each in every}
                needed = [
                    each for each in relations if not each.outside and not (is_master and each.kind == "slideLayout")
                ]
                pending.extend((each.target, each.kind not in _BINARY) for each in reversed(needed))
            if is_markup and part not in self._checked:
                self._checked.add(part)
                self._rewrite(part)

    def _rewrite(self, part: str) -> None:
        """Rewrite a part without elements that refer to omitted relationships, open a file, or run a program."""
        kept = {each.id for each in self.kept[part]}
        gone = {each.id for each in self.package.relations(part)} - kept
        data = self.package.read(part)
        if not gone and _ASCII_COMPATIBLE.match(data) and _LINK.encode() not in data:
            return
        root = parse_xml(data, f"{self.package.path.name} ({part})")
        found = _without_programs(root)
        if found or gone:
            self.was_active = self.was_active or found
            self.rewritten[part] = _unlinked(root, gone)

    def _belongs(self, relation: Relation) -> bool:
        if relation.outside:
            return relation.kind == "hyperlink" and is_safe_link(relation.target, relative=False)
        if relation.kind == "package":
            return relation.target.lower().endswith(_WORKBOOK)
        return relation.kind in _PASSIVE and (relation.kind != "slide" or relation.target in self.slides)

    def _trim_masters(self) -> None:
        """Remove the unused layouts from the slide masters."""
        for name, relations in list(self.kept.items()):
            if any(each.kind == "slideLayout" and each.target not in self.kept for each in relations):
                self.kept[name] = [each for each in relations if each.kind != "slideLayout" or each.target in self.kept]
                root = parse_xml(
                    self.rewritten.get(name) or self.package.read(name), f"{self.package.path.name} ({name})"
                )
                _keep_references(root, "sldLayoutIdLst", {each.id for each in self.kept[name]})
                self.rewritten[name] = _serialised(root)


def _check_inside(location: Pages, count: int) -> None:
    if location.clamp(Extent(pages=count)).numbers != location.numbers:
        raise LocationOutside.beyond("slide", location.numbers[-1], "presentation", count)


def _presentation(root: _Element, relations: set[str], slides: set[str]) -> bytes:
    """Return the presentation part with only the slides in `slides`, and without references to omitted parts."""
    for name in ("custShowLst", "handoutMasterIdLst", "custDataLst", "photoAlbum"):
        for each in list(below(root, name)):
            root.remove(each)
    for each in list(root.iter("{*}sldId")):
        if str(each.get("id")) not in slides:
            _remove(each)
    for name in ("sldMasterIdLst", "notesMasterIdLst"):
        _keep_references(root, name, relations)
    for section in list(root.iter("{*}section")):
        if not any(local(each) == "sldId" for each in section.iter()):
            _remove(section)
    for listing in list(root.iter("{*}sectionLst")):
        if not len(listing):
            extension = listing.getparent()
            _remove(listing if extension is None else extension)
    for listing in list(root.iter("{*}embeddedFontLst")):
        for font in list(listing):
            if any(reference(each) not in relations for each in font if reference(each)):
                _remove(font)
    return _serialised(root)


def _keep_references(root: _Element, listing: str, relations: set[str]) -> None:
    for group in list(below(root, listing)):
        for each in list(group):
            if reference(each) not in relations:
                group.remove(each)
        if not len(group):
            root.remove(group)


def _unlinked(root: _Element, gone: set[str]) -> bytes:
    """Return a part without the elements that refer to the omitted relationships `gone`.

    A `blip` (a picture) loses only the reference, and an embedded object is replaced by its picture.
    """
    for each in list(root.iter()):
        if not isinstance(each.tag, str):
            continue
        names = [name for name in each.attrib if _is_reference(str(name)) and str(each.get(name)) in gone]
        if not names:
            continue
        if local(each) == "blip":
            for name in names:
                del each.attrib[name]
        elif local(each) == "oleObj":
            _replace_by_picture(each)
        else:
            _remove(each)
    for each in [found for found in root.iter("{*}controls") if not len(found)]:
        _remove(each)
    return _serialised(root)


def _is_reference(name: str) -> bool:
    """Return whether an attribute refers to a relationship (`r:id`, `r:embed`, `r:link`)."""
    return name.startswith((_REFERENCES, _STRICT_REFERENCES))


def _replace_by_picture(embedded: _Element) -> None:
    """Replace the frame of an embedded object with its picture, or remove it."""
    frame: _Element | None = embedded
    while frame is not None and local(frame) != "graphicFrame":
        frame = frame.getparent()
    if frame is None:
        _remove(embedded)
        return
    parent, picture = frame.getparent(), next(frame.iter("{*}pic"), None)
    if parent is None:
        return
    if picture is None:
        parent.remove(frame)
    else:
        parent.replace(frame, picture)


def _without_programs(root: _Element) -> bool:
    """Remove links whose action does more than navigate or play media. Return whether there were any."""
    found = [
        each
        for each in root.iter()
        if local(each).startswith(_LINK) and not _NAVIGATION.fullmatch(str(each.get("action") or "").strip())
    ]
    for each in found:
        _remove(each)
    return bool(found)


def _remove(element: _Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _serialised(root: _Element) -> bytes:
    from lxml import etree

    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def _relations_xml(folder: str, relations: list[Relation]) -> bytes:
    lines = "".join(_relation_lines(folder, relations))
    return f'{_HEADER}<Relationships xmlns="{_RELATIONS}">{lines}</Relationships>'.encode()


def _relation_lines(folder: str, relations: list[Relation]) -> Iterator[str]:
    for each in relations:
        target = (
            each.target if each.outside else quote(relpath(f"/{each.target}", f"/{folder}"), safe="/!$&'()*+,;=:@~")
        )
        mode = ' TargetMode="External"' if each.outside else ""
        yield f"<Relationship Id={_quoted(each.id)} Type={_quoted(each.type)} Target={_quoted(target)}{mode}/>"


def _quoted(value: str) -> str:
    return '"' + escape(value, {'"': "&quot;"}) + '"'
