"""The sections of an HTML document as a tree: headings reach to the next of their level, sectioning elements to their end."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.domain.locations import Lines

LABELLED, CAPTION = 7, 9
"""The levels of elements with a label, and of figures and tables: below all headings."""

NAVIGATION = "nav"


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
class Box:
    """A sectioning element that is open; the outermost is the document. Its end has the `name`, its node the `type`."""

    name: str
    type: str
    line: int
    label: str = ""
    items: list[Item] = field(factory=list)


@define
class Page:
    """What one pass over a document finds: its title, its text before the first section, and its sections."""

    title: str = ""
    opening: list[str] = field(factory=list)
    items: list[Item] = field(factory=list)

    def outline_items(self, line_count: int) -> tuple[OutlineItem, ...]:
        """The sections as drafts; what stands before the first is a `preamble` where it holds text."""
        first = self.items[0].line if self.items else line_count + 1
        said = next((line for line in self.opening if line), "")
        before = (
            OutlineItem(said, "preamble", Lines(1, first - 1), first_sentence(self.opening, skip=said))
            if said and self.items and first > 1
            else None
        )
        return (*((before,) if before else ()), *(_draft(item) for item in self.items))


def node_of(box: Box, end: int) -> Item | None:
    """The node that a sectioning element makes, with what is in it; headings in navigation are none of the text."""
    if box.type == NAVIGATION:
        title = box.label or next((item.title for item in box.items if item.type == "section"), "")
        return Item(box.line, LABELLED, title, box.type, end) if title else None
    heads = [item for item in box.items if not item.end]
    top = min((item.level for item in heads), default=0)
    own = heads[0] if heads and heads[0] is box.items[0] and heads[0].level == top else None
    if own is not None and sum(item.level == top for item in heads) > 1:
        own = None
    if box.label and (own is None or own.title.casefold() != box.label.casefold()):
        return Item(box.line, LABELLED, box.label, box.type, end, below=nested(box.items, end))
    if own is None:
        return None
    below = nested(box.items[1:], end)
    return Item(box.line, own.level, own.title, box.type, end, body=own.body, below=below)


def nested(items: Sequence[Item], last: int) -> list[Item]:
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


def _draft(item: Item) -> OutlineItem:
    summary = first_sentence(item.body, skip=item.title) if item.body else None
    children = tuple(_draft(child) for child in item.below)
    return OutlineItem(item.title, item.type, Lines(item.line, max(item.line, item.end)), summary, children)
