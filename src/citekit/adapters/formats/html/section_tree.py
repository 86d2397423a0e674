"""Builds the tree of sections of an HTML document.

The section of a heading extends to the next heading of the same or a higher level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.formats.shared.sections import is_bare_number
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.domain.locations import Lines

LABELLED, CAPTION = 7, 9
"""The levels of labeled elements and of captioned figures and tables, both deeper than all heading levels."""

FURNITURE = "furniture"
"""The type of a box that contains navigation or the footer of the page."""


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

    `name` identifies its end tag, and `label` is its accessible name. `body` belongs to the section around it, and
    `has_furniture` says that furniture of the page is directly in it.
    """

    name: str
    type: str
    line: int
    label: str = ""
    items: list[Item] = field(factory=list)
    body: list[str] | None = None
    has_furniture: bool = False


@define
class Page:
    """The result of scanning an HTML document. `opening` is the text before the first section, and `hidden_lines` are
    the numbers of the lines with text that readers do not see. `said` has a byte for each line number, which is 1 for
    lines with text that belongs in a node, because it is outside the furniture of the page.
    """

    title: str = ""
    opening: list[str] = field(factory=list)
    items: list[Item] = field(factory=list)
    hidden_lines: set[int] = field(factory=set)
    said: bytearray = field(factory=bytearray)
    is_begun: bool = False

    def say(self, line: int, words: str) -> None:
        """Record the lines of a piece of text that begins on `line`."""
        if words.isspace():
            return
        self.is_begun = True
        for number, each in enumerate(words.split("\n"), line):
            if each and not each.isspace() and number < len(self.said):
                self.said[number] = 1

    def say_all(self, first: int, last: int) -> None:
        """Record that lines `first` to `last` belong in a node."""
        self.said[first : last + 1] = b"\1" * len(self.said[first : last + 1])

    def unsay(self, first: int, last: int) -> None:
        """Record that no line from `first` to `last` has to belong in a node."""
        self.said[first : last + 1] = bytes(len(self.said[first : last + 1]))

    def notes(self) -> list[str]:
        """Return the note about hidden text, if there is any."""
        if not self.hidden_lines:
            return []
        count, first = len(self.hidden_lines), min(self.hidden_lines)
        where = f"on line {first}" if count == 1 else f"on {count} lines; the first is line {first}"
        return [f"Hidden text, which readers of the page do not see, is {where}. Titles and summaries leave it out."]

    def outline_items(self, line_count: int) -> tuple[OutlineItem, ...]:
        """Convert the sections to outline items.

        Text before the first section becomes an item of type `preamble`, and text between and after the sections, which
        belongs to none of them, items of type `lines`. Without sections, there are no items.
        """
        found: list[OutlineItem] = []
        reach = 0
        for item in _numbers_joined(self.items):
            found += self._between(reach + 1, item.line - 1)
            found.append(_outline_item(item))
            reach = max(reach, item.line, item.end)
        return (*found, *self._between(reach + 1, line_count)) if found else ()

    def _between(self, first: int, last: int) -> Sequence[OutlineItem]:
        start, end = self.said.find(1, first, last + 1), self.said.rfind(1, first, last + 1)
        if start < 0:
            return ()
        lines = Lines(start, end)
        title = next((line for line in self.opening if any(map(str.isalnum, line))), "") if first == 1 else ""
        if title:
            return (OutlineItem(title, "preamble", lines, first_sentence(self.opening, skip=title)),)
        return (OutlineItem(f"Lines {start}-{end}" if start < end else f"Line {start}", "lines", lines),)


def node_of(box: Box, end: int) -> Item | None:
    """Return the section for a sectioning element, or None if the element has no title or is furniture of the page.

    `end` is its last line.
    """
    if box.type == FURNITURE:
        return None
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


def _numbers_joined(items: Sequence[Item]) -> Iterator[Item]:
    """Yield sections, but join a heading that is only a number (`CHAPTER I`) with the one that directly follows it.

    That is the next heading of the same level, or the only one below it.
    """
    number: Item | None = None
    for item in items:
        if number is not None and item.level == number.level and not is_bare_number(item.title):
            item.line, item.title = number.line, f"{number.title} {item.title}"
        elif number is not None:
            yield number
        number = None
        if item.type != "section" or any(item.body) or not is_bare_number(item.title):
            yield item
        elif not item.below:
            number = item
        elif len(item.below) == 1 and item.below[0].type == "section" and not is_bare_number(item.below[0].title):
            only = item.below[0]
            item.title, item.body, item.below = f"{item.title} {only.title}", only.body, only.below
            yield item
        else:
            yield item
    if number is not None:
        yield number


def _outline_item(item: Item) -> OutlineItem:
    summary = first_sentence(item.body, skip=item.title) if item.body else None
    children = tuple(_outline_item(child) for child in _numbers_joined(item.below))
    return OutlineItem(item.title, item.type, Lines(item.line, max(item.line, item.end)), summary, children)
