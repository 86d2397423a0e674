"""Sources for the outliners, and what every outline must keep."""

from __future__ import annotations

import itertools
from pathlib import Path

from citekit.adapters.formats.shared.outline import Outline, make_nodes
from citekit.domain.digest import Digest
from citekit.domain.formats import PLAIN_TEXT, by_name
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.domain.source import Source


def source(path: Path, content: str | bytes | None = None) -> Source:
    """The file at `path`, written first where there is content."""
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    data = path.read_bytes()
    return Source(path, Digest.of_bytes(data), len(data), by_name(path.name) or PLAIN_TEXT)


def spans(outline: Outline) -> list[tuple[str, int, int]]:
    """(title, first line, last line) of every node."""
    nodes = [each for node in make_nodes(outline) for each in node.walk()]
    return [(node.title, node.location.first, node.location.last) for node in nodes if isinstance(node.location, Lines)]


def assert_sound(outline: Outline) -> None:
    """Children lie inside their parents, siblings do not overlap, nothing lies outside the text."""
    level = make_nodes(outline)
    _assert_apart(level)
    for top in level:
        for node in top.walk():
            assert node.location == node.location.clamp(outline.extent)
            assert all(node.location.contains(child.location) for child in node.children)
            _assert_apart(node.children)


def _assert_apart(nodes: tuple[Node, ...]) -> None:
    ends = [node.location for node in nodes if isinstance(node.location, Lines)]
    assert all(before.last < after.first for before, after in itertools.pairwise(ends))


def covered(outline: Outline) -> list[int]:
    """Every line that a node of the top level holds, in order, as often as it is held."""
    tops = [outline_item.location for outline_item in outline.items]
    return [line for each in tops if isinstance(each, Lines) for line in range(each.first, each.last + 1)]
