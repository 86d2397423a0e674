"""Finds the sections of an HTML document: headings, sectioning elements, and figures and tables with captions.

A sectioning element (`article`, `section`, `aside`, `main`) becomes a node if it has a label (`aria-label`), or if it
starts with a heading of a higher level than all other headings in it. Otherwise, it only ends the sections in it. Some
landmark roles (WAI-ARIA 1.2, 5.3.4) turn `div`, `ul`, and `form` into sectioning elements.

The furniture of a page makes no nodes. It consists of navigation, the footer of the page, each `aside` with navigation
in it, and the links to parts of the page with which the page begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import define, field

from citekit.adapters.formats.html.lines import letters
from citekit.adapters.formats.html.section_tree import CAPTION, FURNITURE, Box, Item, Page, nested, node_of
from citekit.adapters.formats.html.tags import Tag, Text, tokens
from citekit.adapters.formats.shared.sections import HEADING_LIMIT
from citekit.adapters.libraries.lxml import names

TITLE_LIMIT = 300
"""Maximum number of characters of a title."""

_PERMALINKS = frozenset("#¶§🔗⚓")

_LINK_BAR = 4
"""Minimum number of links in a heading that is a navigation bar."""


@define
class Heading:
    """A heading whose end tag has not been read yet.

    `first` is how many pieces of text precede the first block element, in case the end tag is missing, or -1 if there
    is no such element.
    """

    line: int
    level: int
    words: list[str] = field(factory=list)
    first: int = -1
    links: int = 0
    in_link: bool = False
    has_own: bool = False
    has_words: bool = False

    def link(self, *, closes: bool) -> None:
        """Record the start tag of a link in the heading, or its end tag if `closes` is set."""
        self.in_link = not closes
        self.links += not closes

    def say(self, words: str) -> None:
        """Add a piece of text to the heading."""
        self.words.append(words)
        self.has_words |= not words.isspace()
        self.has_own |= not self.in_link and any(character.isalnum() for character in words)

    @property
    def is_link_bar(self) -> bool:
        """Whether the heading consists only of several links."""
        return self.links >= _LINK_BAR and not self.has_own

    def title(self, *, closed: bool) -> str:
        """Return the text of the heading on one line.

        If the end tag is missing (`closed` is False), or if the text is very long, return only what precedes the first
        block element.
        """
        self._without_permalink()
        whole = flat(self.words)
        if self.first >= 0 and (not closed or len(whole) > TITLE_LIMIT):
            return flat(self.words[: self.first])
        return whole

    def _without_permalink(self) -> None:
        """Remove the permalink symbol, such as a pilcrow, at the beginning or end of the heading."""
        said = [position for position, piece in enumerate(self.words) if not piece.isspace()]
        for position in (said[0], said[-1]) if len(said) > 1 else ():
            if self.words[position].strip() in _PERMALINKS:
                self.words[position] = " "


def flat(words: Iterable[str]) -> str:
    """Join pieces of text into one line with single spaces between words."""
    return " ".join("".join(words).split())


_CONTENT = frozenset(("article", "section", "aside", "main"))
_SECTIONING = {**{name: name for name in _CONTENT}, "nav": FURNITURE, "footer": FURNITURE}
_ROLES = {
    "navigation": FURNITURE,
    "search": FURNITURE,
    "contentinfo": FURNITURE,
    "main": "main",
    "complementary": "aside",
}
_ROLED = frozenset(("div", "ul", "form"))
"""Elements whose landmark roles are recognized."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CAPTIONED = {"figcaption": "figure", "caption": "table"}
_INLINE = names(
    """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rb rp rt ruby s samp
    small span strike strong sub sup time tt u var wbr
    """
)

_DEPTH_LIMIT = 200
_BODY_PIECES, _BODY_LIMIT = 40, 2000


def read_page(content: str, line_count: int, seen: Mapping[int, str] | None = None) -> Page:
    """Return the title and the sections of the HTML document `content`, whose lines end with line feeds.

    `seen` has the letters that readers see on each line; other text is left out. Invalid HTML raises no error.
    """
    reader = _Reader(_deepest(content), seen, Page(said=bytearray(line_count + 1)))
    for token in tokens(content):
        if isinstance(token, Tag):
            reader.tag(token)
        else:
            reader.text(token)
    return reader.finish(line_count)


def _deepest(content: str) -> int:
    """Return the deepest heading level (1 to 6) to include, so that there are at most `HEADING_LIMIT` headings, if
    possible.
    """
    plain = content.lower()
    total = 0
    for level in range(1, 7):
        total += plain.count(f"<h{level}")
        if total > HEADING_LIMIT:
            return max(1, level - 1)
    return 6


@define
class _Reader:
    deepest: int
    seen: Mapping[int, str] | None = None
    page: Page = field(factory=Page)
    boxes: list[Box] = field(factory=lambda: [Box("", "", 1)])
    open_: Counter[str] = field(factory=Counter)
    heading: Heading | None = None
    captioned: list[tuple[str, int, list[str]]] = field(factory=list)
    catching: list[str] | None = None
    body: list[str] | None = None
    words: list[str] = field(factory=list)
    depths: Counter[str] = field(factory=Counter)
    in_summary: bool = False
    last_heading: int = 0
    kept: int = 0
    last_caption: int = 0
    last_node: int = 0
    last_end: int = 0
    titles: list[str] | None = None
    furniture: int = 0
    leads: bool = False

    def text(self, text: Text) -> None:
        """Add text to the title, heading, or caption that is open, or else to the body of the current section."""
        if self.titles is not None:
            self.titles.append(text.words)
            return
        if not (self.furniture or self.leads):
            self.page.say(text.line, text.words)
        words = self._seen_part(text)
        if self.heading is not None:
            self.heading.say(words)
        elif self.catching is not None:
            self.catching.append(words)
        elif self.words or not words.isspace():
            self.words.append(words)

    def _seen_part(self, text: Text) -> str:
        """Return `text` with empty lines for those that readers do not see, or see only in part.

        The numbers of these lines are recorded in the page.
        """
        if self.seen is None:
            return text.words
        shown = []
        for number, line in enumerate(text.words.split("\n"), text.line):
            is_seen = letters(line) in self.seen.get(number, "")
            shown.append(line if is_seen else "")
            if not is_seen:
                self.page.hidden_lines.add(number)
        return "\n".join(shown)

    def tag(self, tag: Tag) -> None:
        """Process a tag, which can open or close an element or separate paragraphs."""
        name = tag.name
        if name in _INLINE:
            if name == "a":
                self._link(tag)
            return
        self._part()
        if name == "title":
            self._title(tag)
        elif name in _HEADINGS:
            self._close_heading(closed=tag.closes)
            if not tag.closes and self._keeps(tag):
                self.heading = Heading(tag.line, _HEADINGS[name])
        elif name in _SECTIONING:
            self._section(tag)
        elif name in _ROLED:
            self._landmark(tag)
        elif name == "summary":
            self.in_summary = not tag.closes
        elif name in ("figure", "table", "figcaption", "caption"):
            self._caption(tag)
        self._begin_block(tag)

    def _link(self, tag: Tag) -> None:
        if self.heading is not None:
            self.heading.link(closes=tag.closes)
        elif not tag.closes and not self.page.is_begun and tag.attributes.get("href", "").startswith("#"):
            self.leads = True
        elif tag.closes and self.leads:
            self.leads = False
            self.words.clear()

    def _begin_block(self, tag: Tag) -> None:
        if (
            self.heading is not None
            and not tag.closes
            and tag.line >= self.heading.line
            and self.heading.first < 0
            and self.heading.has_words
        ):
            self.heading.first = len(self.heading.words)

    def finish(self, line_count: int) -> Page:
        """Close all open elements at the end of the document, and return the page."""
        self._part()
        self._close_heading(closed=False)
        while len(self.boxes) > 1:
            self._pop(line_count, closed=False)
        self.page.items = nested(self.boxes[0].items, line_count)
        return self.page

    def _part(self) -> None:
        if self.heading is not None:
            self.heading.words.append(" ")
        body = self.page.opening if self.body is None else self.body
        if self.words and not (self.furniture or self.leads) and len(body) < _BODY_PIECES:
            body += [flat(self.words)[:_BODY_LIMIT], ""]
        self.words.clear()

    def _title(self, tag: Tag) -> None:
        if not tag.closes and not self.page.title:
            self.titles = []
        elif tag.closes and self.titles is not None:
            self.page.title, self.titles = flat(self.titles), None

    def _close_heading(self, *, closed: bool) -> None:
        heading, self.heading = self.heading, None
        if heading is None:
            return
        title = heading.title(closed=closed)
        if heading.is_link_bar:
            self.page.unsay(heading.line, heading.line)
        elif any(map(str.isalnum, title)):
            self.kept += 1
            item = Item(heading.line, heading.level, title)
            self.boxes[-1].items.append(item)
            self.body, self.last_heading = item.body, heading.line
            self.last_node = max(self.last_node, heading.line)
            if not closed and heading.first >= 0:
                item.body.append(flat(heading.words[heading.first :])[:_BODY_LIMIT])

    def _keeps(self, tag: Tag) -> bool:
        """Return whether the heading becomes a node. Two headings on one line would have the same location."""
        return tag.line > self.last_heading and _HEADINGS[tag.name] <= self.deepest and self.kept < HEADING_LIMIT

    def _section(self, tag: Tag) -> None:
        """Process the tag of a sectioning element, which a `summary` cannot contain (HTML, 4.11.2)."""
        if self.in_summary:
            return
        self._close_heading(closed=False)
        if tag.closes:
            self._close(tag.name, tag.line)
        elif tag.name != "footer" or not any(self.open_[name] for name in _CONTENT):
            self._open(tag, tag.name, _SECTIONING[tag.name])

    def _landmark(self, tag: Tag) -> None:
        """Process the tag of an element that can have a landmark role, which makes it a sectioning element."""
        if not tag.closes:
            self.depths[tag.name] += 1
            kind = _ROLES.get(tag.attributes.get("role", "")) if "role" in tag.written else None
            if kind is not None:
                self._close_heading(closed=False)
                self._open(tag, self._own_name(tag), kind)
        elif self.depths[tag.name]:
            self._close(self._own_name(tag), tag.line)
            self.depths[tag.name] -= 1

    def _own_name(self, tag: Tag) -> str:
        """Return a name that the start and the end tag of an element share, and no nested element has."""
        return f"{tag.name} {self.depths[tag.name]}"

    def _open(self, tag: Tag, name: str, kind: str) -> None:
        if len(self.boxes) < _DEPTH_LIMIT:
            self.boxes.append(Box(name, kind, tag.line, flat([tag.attributes.get("aria-label", "")]), body=self.body))
            self.open_[name] += 1
            self.furniture += kind == FURNITURE

    def _close(self, name: str, line: int) -> None:
        while self.open_[name]:
            self._close_heading(closed=False)
            if self._pop(line, closed=self.boxes[-1].name == name) == name:
                return

    def _pop(self, line: int, *, closed: bool) -> str:
        """Close the last box at `line`, and return its name. Without `closed`, its own end tag is missing."""
        box = self.boxes.pop()
        self.open_[box.name] -= 1
        self.furniture -= box.type == FURNITURE
        if closed and (box.type == FURNITURE or (box.type == "aside" and box.has_furniture)):
            self._leave_out(box, line)
            return box.name
        if box.type == FURNITURE:
            self.page.say_all(box.line, line)
        self.body = []
        node = node_of(box, line)
        if node is None:
            for item in box.items:
                item.cap = min(item.cap or line, line)
        else:
            self.last_node = max(self.last_node, node.line)
            self.last_end = max(self.last_end, line)
        self.boxes[-1].items += box.items if node is None else [node]
        return box.name

    def _leave_out(self, box: Box, line: int) -> None:
        """Leave out the furniture in `box`, which ends at `line`."""
        self.body = box.body
        self.boxes[-1].has_furniture = True
        if box.type == "aside":
            self.page.unsay(box.line, line)

    def _caption(self, tag: Tag) -> None:
        """Process the tag of a figure, table, or caption.

        A captioned figure or table becomes a node, unless it contains sections, is in a heading, or begins on the line
        of an earlier one.
        """
        kind = _CAPTIONED.get(tag.name)
        if kind is not None:
            around = self.captioned[-1] if self.captioned and self.captioned[-1][0] == kind else None
            self.catching = around[2] if around is not None and not tag.closes else None
        elif not tag.closes:
            if len(self.captioned) < _DEPTH_LIMIT:
                self.captioned.append((tag.name, tag.line, []))
        elif self.captioned and self.captioned[-1][0] == tag.name:
            _, line, words = self.captioned.pop()
            self.catching = None
            title = flat(words)[:TITLE_LIMIT]
            holds_none = self.heading is None and line >= max(self.last_node, self.boxes[-1].line, self.last_end + 1)
            if title and line > self.last_caption and holds_none:
                self.last_caption = line
                self.boxes[-1].items.append(Item(line, CAPTION, title, tag.name, tag.line))
