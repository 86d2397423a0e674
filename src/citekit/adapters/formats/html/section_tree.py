"""Builds the tree of sections of an HTML document.

The section of a heading extends to the next heading of the same or a higher level.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.domain.locations import Lines

LABELLED, CAPTION = 7, 9
"""The levels of labeled elements and of captioned figures and tables, both deeper than all heading levels."""

NAVIGATION = "nav"


@define
class Item:
    """A section of an HTML document that is being built.

    `end` is its last line, or 0 if it is not known yet. `cap` is the last line that the section may have, or 0 without
    a limit. `body` contains its text, and `below` its child sections.
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
    """A sectioning element that is still open. The outermost box is the document.

    `name` identifies its end tag, and `label` is its accessible name.
    """

    name: str
    type: str
    line: int
    label: str = ""
    items: list[Item] = field(factory=list)


@define
class Page:
    """The result of scanning an HTML document. `opening` is the text before the first section, and `hidden_lines` are
    the numbers of the lines with text that readers do not see.
    """

    title: str = ""
    opening: list[str] = field(factory=list)
    items: list[Item] = field(factory=list)
    hidden_lines: set[int] = field(factory=set)

    def notes(self) -> list[str]:
        """Return the note about hidden text, if there is any."""
        if not self.hidden_lines:
            return []
        count, first = len(self.hidden_lines), min(self.hidden_lines)
        where = f"on line {first}" if count == 1 else f"on {count} lines; the first is line {first}"
        return [f"Hidden text, which readers of the page do not see, is {where}. Titles and summaries leave it out."]

    def outline_items(self, line_count: int) -> tuple[OutlineItem, ...]:
        """Convert the sections to outline items. Text before the first section becomes an item of type `preamble`."""
        first = self.items[0].line if self.items else line_count + 1
        said = next((line for line in self.opening if line), "")
        before = (
            OutlineItem(said, "preamble", Lines(1, first - 1), first_sentence(self.opening, skip=said))
            if said and self.items and first > 1
            else None
        )
        return (*((before,) if before else ()), *(_outline_item(item) for item in self.items))


def node_of(box: Box, end: int) -> Item | None:
    """Return the section for a sectioning element, or None if the element has no title.

    `end` is its last line. Headings inside a navigation element do not become sections.
    """
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
    """Nest the sections by their levels, and set their last lines, at most `last`."""
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
    """Set the last line of a heading's section.

    If its last child ends on the first line of the next section, both sections include that line.
    """
    reach = min(last, item.cap or last)
    item.end = max(item.line, reach, *(child.end for child in item.below)) if item.below else max(item.line, reach)


def _outline_item(item: Item) -> OutlineItem:
    summary = first_sentence(item.body, skip=item.title) if item.body else None
    children = tuple(_outline_item(child) for child in item.below)
    return OutlineItem(item.title, item.type, Lines(item.line, max(item.line, item.end)), summary, children)
