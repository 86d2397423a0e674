"""From the tags of an HTML document to its sections: headings, sectioning elements, figures and tables with captions.

A sectioning element (`article`, `section`, `nav`, `aside`, `main`) that has a label (`aria-label`), or begins with the only
heading of its level in it, is a node from its first to its last line. Any other only ends the sections inside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import define, field

from citekit.adapters.drivers.lxml import names
from citekit.adapters.mapping.local.html_tags import Tag, Text, tokens
from citekit.adapters.mapping.local.outline import Draft
from citekit.adapters.mapping.local.prose import first_sentence
from citekit.adapters.mapping.local.sections import HEADING_LIMIT
from citekit.domain.locations import Lines

_SECTIONING = frozenset(("article", "section", "nav", "aside", "main"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CAPTIONED = {"figcaption": "figure", "caption": "table"}
_INLINE = names(
    """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rb rp rt ruby s samp
    small span strike strong sub sup time tt u var wbr
    """
)
_PERMALINKS = frozenset("#¶§🔗⚓")
_LABELLED, _CAPTION_LEVEL = 7, 9
_DEPTH_LIMIT = 200
_TITLE_LIMIT = 300
_BODY_PIECES, _BODY_LIMIT = 40, 2000


@define
class Item:
    """A node in the making: `end` is its last line; 0 for a heading, which reaches to the next of its level or a higher one.

    `cap` is the last line that it may reach to, 0 where nothing says so.
    """

    line: int
    level: int
    title: str
    type: str = "section"
    end: int = 0
    cap: int = 0
    body: list[str] = field(factory=list)
    below: list[Item] = field(factory=list)


@define
class _Box:
    """A sectioning element that is open; the outermost is the document."""

    name: str
    line: int
    label: str = ""
    items: list[Item] = field(factory=list)


@define
class _Heading:
    """A heading that is open: its text, and that before the first block in it, where nothing may ever close it."""

    line: int
    level: int
    words: list[str] = field(factory=list)
    first: int = -1

    def title(self, *, closed: bool) -> str:
        self._without_permalink()
        whole = _one_line(self.words)
        if self.first >= 0 and (not closed or len(whole) > _TITLE_LIMIT):
            return _one_line(self.words[: self.first])
        return whole

    def _without_permalink(self) -> None:
        """Take out a mark that only links to the heading itself: a piece of text of its own, before or behind the others."""
        said = [position for position, piece in enumerate(self.words) if not piece.isspace()]
        for position in (said[0], said[-1]) if len(said) > 1 else ():
            if self.words[position].strip() in _PERMALINKS:
                self.words[position] = " "


@define
class Page:
    """What one pass over a document finds: its title, its text before the first section, and its sections."""

    title: str = ""
    opening: list[str] = field(factory=list)
    items: list[Item] = field(factory=list)

    def drafts(self, line_count: int) -> tuple[Draft, ...]:
        """The sections as drafts; what stands before the first is a `preamble` where it holds text."""
        first = self.items[0].line if self.items else line_count + 1
        said = next((line for line in self.opening if line), "")
        before = (
            Draft(said, "preamble", Lines(1, first - 1), first_sentence(self.opening, skip=said))
            if said and self.items and first > 1
            else None
        )
        return (*((before,) if before else ()), *(_draft(item) for item in self.items))


def read_page(content: str, line_count: int) -> Page:
    """The page of a document whose lines end with line feeds. Never fails."""
    reader = _Reader(_deepest(content))
    for token in tokens(content):
        if isinstance(token, Tag):
            reader.tag(token)
        else:
            reader.text(token)
    return reader.finish(line_count)


def _deepest(content: str) -> int:
    """The deepest level of headings that is kept, so that there are at most `HEADING_LIMIT`."""
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
    page: Page = field(factory=Page)
    boxes: list[_Box] = field(factory=lambda: [_Box("", 1)])
    open_: Counter[str] = field(factory=Counter)
    heading: _Heading | None = None
    captioned: list[tuple[str, int, list[str]]] = field(factory=list)
    catching: list[str] | None = None
    body: list[str] | None = None
    words: list[str] = field(factory=list)
    last_heading: int = 0
    kept: int = 0
    last_caption: int = 0
    last_node: int = 0
    titles: list[str] | None = None

    def text(self, text: Text) -> None:
        """A piece of text goes to the title, caption or body that is open."""
        if self.titles is not None:
            self.titles.append(text.words)
        elif self.heading is not None:
            self.heading.words.append(text.words)
        elif self.catching is not None:
            self.catching.append(text.words)
        else:
            self.words.append(text.words)

    def tag(self, tag: Tag) -> None:
        """A tag opens or closes something, or parts paragraphs."""
        name = tag.name
        if name in _INLINE:
            return
        self._part()
        if name == "title":
            self._title(tag)
        elif name in _HEADINGS:
            self._close_heading(closed=tag.closes)
            if not tag.closes and self._keeps(tag):
                self.heading = _Heading(tag.line, _HEADINGS[name])
        elif name in _SECTIONING:
            self._close_heading(closed=False)
            self._close(tag) if tag.closes else self._open(tag)
        elif name in ("figure", "table", "figcaption", "caption"):
            self._caption(tag)
        elif self.heading is not None and not tag.closes and self.heading.first < 0 and _one_line(self.heading.words):
            self.heading.first = len(self.heading.words)

    def finish(self, line_count: int) -> Page:
        """Close everything that is open."""
        self._part()
        self._close_heading(closed=False)
        while len(self.boxes) > 1:
            self._pop(line_count)
        self.page.items = _nested(self.boxes[0].items, line_count)
        return self.page

    def _part(self) -> None:
        if self.heading is not None:
            self.heading.words.append(" ")
        body = self.page.opening if self.body is None else self.body
        if self.words and len(body) < _BODY_PIECES:
            body += [_one_line(self.words)[:_BODY_LIMIT], ""]
        self.words.clear()

    def _title(self, tag: Tag) -> None:
        if not tag.closes and not self.page.title:
            self.titles = []
        elif tag.closes and self.titles is not None:
            self.page.title, self.titles = _one_line(self.titles), None

    def _close_heading(self, *, closed: bool) -> None:
        heading, self.heading = self.heading, None
        if heading is None:
            return
        title = heading.title(closed=closed)
        if title:
            self.kept += 1
            item = Item(heading.line, heading.level, title)
            self.boxes[-1].items.append(item)
            self.body, self.last_heading = item.body, heading.line
            self.last_node = max(self.last_node, heading.line)
            if not closed and heading.first >= 0:
                item.body.append(_one_line(heading.words[heading.first :])[:_BODY_LIMIT])

    def _keeps(self, tag: Tag) -> bool:
        """Whether a heading becomes a node: two on one line would be told apart by nothing."""
        return tag.line > self.last_heading and _HEADINGS[tag.name] <= self.deepest and self.kept < HEADING_LIMIT

    def _open(self, tag: Tag) -> None:
        if len(self.boxes) < _DEPTH_LIMIT:
            self.boxes.append(_Box(tag.name, tag.line, _one_line([tag.attributes.get("aria-label", "")])))
            self.open_[tag.name] += 1

    def _close(self, tag: Tag) -> None:
        while self.open_[tag.name]:
            if self._pop(tag.line) == tag.name:
                return

    def _pop(self, line: int) -> str:
        box = self.boxes.pop()
        self.open_[box.name] -= 1
        self.body = []
        node = _node(box, line)
        if node is None:
            for item in box.items:
                item.cap = min(item.cap or line, line)
        else:
            self.last_node = max(self.last_node, node.line)
        self.boxes[-1].items += box.items if node is None else [node]
        return box.name

    def _caption(self, tag: Tag) -> None:
        """A figure or table is a node where it ends, unless sections begin in it, or a heading is open."""
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
            title = _one_line(words)[:_TITLE_LIMIT]
            holds_none = self.heading is None and line >= max(self.last_node, self.boxes[-1].line)
            if title and line > self.last_caption and holds_none:
                self.last_caption = line
                self.boxes[-1].items.append(Item(line, _CAPTION_LEVEL, title, tag.name, tag.line))


def _node(box: _Box, end: int) -> Item | None:
    """The node that a sectioning element makes, with what is in it."""
    heads = [item for item in box.items if not item.end]
    top = min((item.level for item in heads), default=0)
    own = heads[0] if heads and heads[0] is box.items[0] and heads[0].level == top else None
    if own is not None and sum(item.level == top for item in heads) > 1:
        own = None
    if box.label and (own is None or own.title.casefold() != box.label.casefold()):
        return Item(box.line, _LABELLED, box.label, box.name, end, below=_nested(box.items, end))
    if own is None:
        return None
    below = _nested(box.items[1:], end)
    return Item(box.line, own.level, own.title, box.name, end, body=own.body, below=below)


def _nested(items: Sequence[Item], last: int) -> list[Item]:
    """Items in order, as a tree; `last` is the last line of what holds them."""
    roots: list[Item] = []
    stack: list[Item] = []
    for item in sorted(items, key=lambda each: each.line):
        while stack and (stack[-1].level >= item.level or 0 < stack[-1].cap < item.line):
            _end(stack.pop(), item.line - 1)
        (stack[-1].below if stack else roots).append(item)
        if not item.end:
            stack.append(item)
    while stack:
        _end(stack.pop(), last)
    return roots


def _end(item: Item, last: int) -> None:
    """Give a heading's section its last line; one that a part of it shares with what follows is in both."""
    reach = min(last, item.cap or last)
    item.end = max(item.line, reach, *(child.end for child in item.below)) if item.below else max(item.line, reach)


def _draft(item: Item) -> Draft:
    summary = first_sentence(item.body, skip=item.title) if item.body else None
    children = tuple(_draft(child) for child in item.below)
    return Draft(item.title, item.type, Lines(item.line, max(item.line, item.end)), summary, children)


def _one_line(words: Iterable[str]) -> str:
    return " ".join("".join(words).split())
