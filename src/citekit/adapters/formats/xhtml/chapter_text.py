"""Converts a chapter to text as a browser displays it, and records the position of each element in the text.

Runs of whitespace become one space (CSS Text 3 `white-space: normal`), block elements and line breaks separate lines,
tabs separate table cells, and preformatted text keeps its whitespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.xhtml.flow import (
    BLOCKS,
    NOTHING,
    PREFORMATTED,
    Closing,
    Flow,
    Opening,
    Space,
    Step,
    Words,
    is_page_break,
)
from citekit.adapters.formats.xhtml.style_sheets import StyledWalk, StyleSheets, forbids_styles, references
from citekit.adapters.formats.xhtml.style_visibility import BREAKING, PAGE, Shown, hints_of, in_svg, is_unshown, shown
from citekit.adapters.formats.xhtml.visible_text import Level, level_of, levelled, unseen
from citekit.adapters.libraries.lxml import local_attributes, local_name, names, own_attributes

if TYPE_CHECKING:
    from lxml.etree import _Element

HIDDEN = names(
    """
    script style head template title desc metadata annotation annotation-xml rp
    """
)
"""Elements that browsers do not display."""

MARKED = names("h1 h2 h3 h4 h5 h6 figure figcaption table caption")
"""Elements that define the structure of a text."""

USED = names("section body div article aside nav header footer")
"""Elements whose `epub:type` is recorded."""

_CELLS = frozenset(("td", "th"))
_SPACES = " \t\n\r\f"
_PARTING = BLOCKS | _CELLS | {"br"}


def flow(root: _Element, *, as_seen: bool = False, sheets: StyleSheets | None = None) -> Flow:
    """Return the flow (text and elements) of the document below `root`.

    With `as_seen`, raised and lowered numbers become superscript and subscript characters, and each character of hidden
    text becomes U+2063; the length does not change. By default, `sheets` are the style sheets in the document.
    """
    from lxml import etree

    if as_seen and sheets is None:
        sheets = StyleSheets()
        sheets.add_all(references(root))
    if sheets is None or not as_seen:
        writer = _Writer()
    else:
        page = PAGE._replace(hidden=True) if forbids_styles(root) else PAGE
        writer = _SeenWriter(styles=sheets.walk(), hosts=_hosts(root), looks=[page])
    hidden = 0
    path: list[str] = []
    known: dict[object, str] = {}
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            tag = element.tag
            name = known.get(tag)
            if name is None:
                name = known[tag] = local_name(element)
            path.append(name)
            if not hidden:
                writer.enter(element, name, path)
            hidden += name in HIDDEN
            if not hidden:
                writer.open(element, name)
        else:
            name = path.pop()
            if not hidden:
                writer.close(name)
            hidden -= name in HIDDEN
            if not hidden:
                writer.leave()
            if not hidden and element is not root:
                writer.words(element.tail)
    return writer.finish()


@define
class _Writer:
    pieces: list[str] = field(factory=list)
    length: int = 0
    block: str = ""
    lead: list[str] = field(factory=list)
    space: Space | None = None
    preformatted: int = 0
    steps: list[Step] = field(factory=list)
    stack: list[Opening] = field(factory=list)
    waiting: list[Opening] = field(factory=list)
    named: list[Opening] = field(factory=list)
    marked: list[Opening] = field(factory=list)

    def enter(self, element: _Element, name: str, path: Sequence[str]) -> None:
        """Handle the start of an element. `path` has the names of its ancestors and its own name."""

    def leave(self) -> None:
        """Handle the end of an element."""

    def open(self, element: _Element, name: str) -> None:
        if name in _PARTING:
            self._part(name)
        opening = Opening(name, local_attributes(element) or NOTHING)
        if "id" in opening.said or "name" in opening.said:
            self.named.append(opening)
        if name in MARKED or ("type" in opening.said and name in USED) or is_page_break(opening.said):
            self.marked.append(opening)
        self.steps.append(opening)
        self.stack.append(opening)
        self.waiting.append(opening)
        if name in PREFORMATTED:
            self.preformatted += 1
            self.words((element.text or "").removeprefix("\n"))
        else:
            self.words(element.text)

    def close(self, name: str) -> None:
        opening = self.stack.pop()
        opening.end = self.length
        self.steps.append(Closing(opening))
        self.preformatted -= name in PREFORMATTED
        if name in BLOCKS or name == "br":
            self._part(name)

    def words(self, raw: str | None) -> None:
        if not raw:
            return
        body = raw.strip(_SPACES)
        if not body:
            self._space(raw)
            return
        start = raw.find(body[0])
        self._space(raw[:start])
        self._emit(self.shown(body if self.preformatted else _single_spaced(body)))
        self._space(raw[start + len(body) :])

    def shown(self, body: str) -> str:
        """Return the text that replaces `body` in the output."""
        return body

    def finish(self) -> Flow:
        for opening in self.waiting:
            opening.start = self.length
        anchors: dict[str, int] = {}
        for opening in self.named:
            for key in ("id", "name"):
                if opening.said.get(key):
                    anchors.setdefault(opening.said[key], opening.start)
        return Flow("".join(self.pieces), self.steps, anchors, self.marked)

    def _part(self, name: str) -> None:
        self.block = self.block or "\t" if name in _CELLS else "\n"
        self.lead.clear()
        self.space = None

    def _space(self, raw: str) -> None:
        if raw and self.preformatted:
            self.lead.append(raw.replace("\r\n", "\n").replace("\r", "\n"))
        elif raw and not (self.block or self.lead or self.space):
            self.space = Space()
            self.steps.append(self.space)

    def _emit(self, body: str) -> None:
        before, lead = "", "".join(self.lead)
        if self.length:
            before = f"{self.block}{' ' if self.space else ''}{lead}"
            if self.space:
                self.space.offset = self.length
        self.pieces.extend((before, body))
        offset = self.length + len(before)
        for opening in self.waiting:
            opening.start = offset
        self.waiting.clear()
        self.steps.append(Words(lead, offset, body))
        self.length = offset + len(body)
        self.block, self.space = "", None
        self.lead.clear()


@define
class _SeenWriter(_Writer):
    styles: StyledWalk = field(kw_only=True)
    hosts: frozenset[_Element] = field(kw_only=True)
    levels: list[Level] = field(factory=lambda: [Level.LINE])
    looks: list[Shown] = field(factory=lambda: [PAGE])
    entered: list[bool] = field(factory=list)
    known: dict[tuple[str, int, Shown, bool], Shown] = field(factory=dict)

    def enter(self, element: _Element, name: str, path: Sequence[str]) -> None:
        around, look = self.levels[-1], self.looks[-1]
        self.entered.append(not look.hidden)
        if not look.hidden:
            said = own_attributes(element) if element.attrib else NOTHING
            if (look.is_bare or look.is_drawing) and name in BREAKING and "}" not in str(element.tag):
                look = look._replace(is_bare="select" in path, is_drawing=False, fills=())
            is_drawing = look.is_drawing or name == "svg"
            style = self.styles.enter(element, name, said, hints_of(name, said, is_drawing=is_drawing) if said else ())
            is_other = is_drawing and path[-2:-1] == ["switch"] and element.getprevious() is not None
            if is_other or is_unshown(name, said, path) or element in self.hosts or self.styles.is_undecided:
                look = look._replace(hidden=True)
            else:
                has_link = name == "a" and "href" in said
                key = name, id(style), look, has_link
                seen = self.known.get(key)
                if seen is None:
                    seen = self.known[key] = shown(name, style, look, has_link=has_link)
                look = seen
                if name == "svg" and not look.hidden:
                    look = in_svg(look, said)
            if look.hidden and name in ("col", "colgroup"):
                self._hide_table(path)
            around = level_of(element, name, local_attributes(element) if said else NOTHING, path, around)
        self.levels.append(around)
        self.looks.append(look)

    def leave(self) -> None:
        self.levels.pop()
        pulls = self.looks.pop().pulls
        if pulls:
            # An element that moves to the left affects only the text in the block around it.
            around = [opening.name for opening in self.stack]
            start = max((at for at, name in enumerate(around, 1) if pulls == "left" and name in BLOCKS), default=0)
            self.looks[start:] = [look._replace(hidden=True) for look in self.looks[start:]]
        if self.entered.pop():
            self.styles.leave()

    def _hide_table(self, path: Sequence[str]) -> None:
        """Hide the rest of the table, because one of its columns is hidden."""
        table = max((at for at, name in enumerate(path) if name == "table"), default=len(path))
        for at in range(table + 1, len(path)):
            self.looks[at] = self.looks[at]._replace(hidden=True)

    def shown(self, body: str) -> str:
        level = self.levels[-1]
        if self.looks[-1].unseen:
            return unseen(body)
        if level is Level.LINE:
            return body
        before = (
            "" if self.block or self.space or self.lead else "".join(piece[-64:] for piece in self.pieces[-8:])[-64:]
        )
        return levelled(body, before, level)


def _single_spaced(words: str) -> str:
    """Return `words` with single spaces, faster than with a regular expression."""
    for each in "\n\t\r\f":
        if each in words:
            words = words.replace(each, " ")
    while "  " in words:
        words = words.replace("  ", " ")
    return words


def _hosts(root: _Element) -> frozenset[_Element]:
    """Return the elements with a declarative shadow root, which replaces their content."""
    return frozenset(
        host
        for each in root.iter()
        if local_name(each) == "template" and "shadowrootmode" in own_attributes(each)
        for host in (each.getparent(),)
        if host is not None
    )
