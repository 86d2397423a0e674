"""Formats trees and tables as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.formatting import place
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from citekit.domain.node import Node

_BRANCHES = (("├─ ", "│  "), ("└─ ", "   "))


def tree(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield a line for each node in the trees, indented below its parent."""
    pending = [(node, "", node is nodes[-1]) for node in reversed(nodes)]
    while pending:
        node, before, is_last = pending.pop()
        branch, below = _BRANCHES[is_last]
        yield f"{styled(before + branch, dim=True)}{node_line(node)}"
        children = node.children
        pending += [(child, before + below, child is children[-1]) for child in reversed(children)]


def node_line(node: Node) -> str:
    """Return a line with the ID, location, and title of a node; without the title if it is the last part of the ID."""
    where = styled(printable(place(node.location)), fg="cyan")
    title = "" if node.id.rpartition(".")[2] == node.title else f"  {printable(node.title)}"
    return f"{styled(printable(node.id), bold=True)}  {where}{title}"


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns and the headings `heads`. Control characters in cells are
    escaped.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
    yield styled(_row(heads, widths), bold=True)
    for row in cells:
        yield _row(row, widths)


def pairs(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each (name, value) pair, with aligned values."""
    known = [(name, printable(value)) for name, value in rows]
    widest = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        yield f"  {styled(name.ljust(widest), dim=True)}  {value}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Return the width of text in terminal columns (UAX 11)."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
