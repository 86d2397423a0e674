"""Imports LlamaIndex nodes. Their relationships become a tree, and their offsets, page labels, and texts give
locations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath, PureWindowsPath

from attrs import define, evolve, field, frozen

from citekit.adapters.importers.foreign_files import DriverForeignFiles, ForeignFiles
from citekit.adapters.importers.llamaindex_nodes import LlamaNode, in_order, read_nodes, tree_of
from citekit.adapters.importers.source_text import SourceText, read_source, source_metadata
from citekit.adapters.importers.tree_building import SUMMARY_LIMIT, TITLE_LIMIT, brief, enclosing, opening, reference
from citekit.domain.errors import RequestRefused
from citekit.domain.ids import node_id
from citekit.domain.locations import Location, Pages, Virtual
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.reader import Reader
from citekit.domain.ports.sources import Sources
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

SCHEME = "llamaindex"

PAGE_LIMIT = 100_000
"""The highest page number that is accepted without a source."""

_USABLE_ID = re.compile(r"[\w.:-]{1,80}")


@frozen
class LlamaIndexAdapter:
    """An importer of the folder of a persisted LlamaIndex index, a docstore, a list of nodes, or the same as plain
    data.

    Without a source, the only file that the nodes name is used if it is in the folder of the data.
    """

    reader: Reader
    sources: Sources
    clock: Clock
    files: ForeignFiles = field(factory=DriverForeignFiles, repr=False)
    identity: MapperIdentity = field(default=MapperIdentity("adapt:llamaindex", "1"))

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """See `MapAdapter.adapt`. Nodes keep their IDs if possible, to match search hits of LlamaIndex."""
        nodes = read_nodes(data, str(data) if isinstance(data, Path) else "The LlamaIndex data is not valid")
        notes: list[str] = []
        if source is None and isinstance(data, Path):
            source, text = self._text_in_folder(data, nodes, notes)
        else:
            text = None if source is None else read_source(source, self.reader, self.files)
        locations = _LocationFinder(text, source)
        tree = _NodeBuilder(nodes, locations).nodes()
        notes += locations.notes()
        paged = source is None and any(isinstance(node.location, Pages) for top in tree for node in top.walk())
        return ResourceMap(
            resource_id=resource_id,
            modality=source.format.modality if source else Modality.DOCUMENT if paged else Modality.VIRTUAL,
            title=source.path.stem if source else _title(nodes),
            source_path="" if source is None else str(source.path),
            nodes=tree,
            created_at=self.clock.now(),
            metadata={**source_metadata(source, text), **({"notes": notes} if notes else {})},
        )

    def _text_in_folder(
        self, data: Path, nodes: Mapping[str, LlamaNode], notes: list[str]
    ) -> tuple[Source | None, SourceText | None]:
        """Return the source in the folder of the data and its text, or None and a note if it cannot be used."""
        source = self._source_in_folder(data, nodes, notes)
        try:
            return source, None if source is None else read_source(source, self.reader, self.files)
        except RequestRefused as error:
            notes.append(f"The source was not used. {str(error).removesuffix(' Omit the source (--source).')}")
            return None, None

    def _source_in_folder(self, data: Path, nodes: Mapping[str, LlamaNode], notes: list[str]) -> Source | None:
        names = list(dict.fromkeys(node.file for node in nodes.values() if node.file))
        if len(names) != 1:
            if names:
                notes.append(
                    f"The nodes come from {len(names)} files. Pass one of them as the source to locate its nodes."
                )
            return None
        folder = (data if data.is_dir() else data.parent).resolve()
        with suppress(OSError, ValueError):  # a name that cannot be one of a file
            path = (folder / names[0]).resolve()
            if path.is_relative_to(folder) and path.is_file():
                return self.sources.identify(path)
        notes.append(
            f"The nodes come from {brief(names[0], 200)}, which is not in the folder of the data. Pass that file as "
            "the source."
        )
        return None


def _title(nodes: Mapping[str, LlamaNode]) -> str:
    names = {_file_name(node.file) for node in nodes.values() if node.file}
    return brief(names.pop(), TITLE_LIMIT) if len(names) == 1 else "LlamaIndex nodes"


def _file_name(path: str) -> str:
    return PureWindowsPath(path).name if "\\" in path else PurePath(path).name


@define
class _LocationFinder:
    """A finder of the locations of LlamaIndex nodes. It counts them for the notes."""

    text: SourceText | None
    source: Source | None
    located: int = 0
    by_label: int = 0
    attempted: int = 0

    def __call__(self, node: LlamaNode) -> Location | None:
        self.attempted += 1
        location = self._labelled(node) if self.text is None else self._in_source(self.text, node)
        self.located += location is not None
        return location

    def _in_source(self, text: SourceText, node: LlamaNode) -> Location | None:
        if node.file and self.source is not None and _file_name(node.file) != self.source.path.name:
            return None
        there = text.at_characters(*node.chars, node.text) if node.chars is not None else None
        if there is not None:
            return there
        page = text.on_page(node.page_label, node.text) if node.page_label else None
        if page is not None and page[1]:
            return page[0]
        found = text.find(node.text)
        if found is not None:
            return found.location
        if page is not None:
            self.by_label += 1
        return None if page is None else page[0]

    def _labelled(self, node: LlamaNode) -> Location | None:
        label = node.page_label
        if not label.isascii() or not label.isdigit() or not 1 <= int(label[:9]) <= PAGE_LIMIT:
            return None
        self.by_label += 1
        return Pages((int(label),))

    def notes(self) -> list[str]:
        said = []
        if self.text is not None:
            said.append(f"Nodes located in the source: {self.located} of {self.attempted}.")
        if self.by_label:
            why = "their text was not found in the source" if self.text is not None else "no source was used"
            said.append(f"Nodes located only by page label, because {why}: {self.by_label}.")
        return said


@define
class _NodeBuilder:
    """A builder of map nodes, with a top-level node for each file if the LlamaIndex nodes are from several."""

    given: Mapping[str, LlamaNode]
    locations: _LocationFinder
    taken: set[str] = field(factory=set)

    def nodes(self) -> tuple[Node, ...]:
        parents = tree_of(self.given)
        below: dict[str, list[str]] = {}
        for number in self.given:
            below.setdefault(parents.get(number, ""), []).append(number)
        roots = in_order(below.get("", []), self.given)
        files: dict[str, list[str]] = {}
        for number in roots:
            files.setdefault(self.given[number].file, []).append(number)
        if len(files) == 1:
            return tuple(self._node(number, below) for number in roots)
        return tuple(self._file(name, numbers, below) for name, numbers in files.items())

    def _file(self, name: str, numbers: Sequence[str], below: Mapping[str, list[str]]) -> Node:
        title = _file_name(name) or "Other nodes"
        identifier = node_id("", title, self.taken, fallback="file")
        self.taken.add(identifier)
        children = tuple(self._node(number, below) for number in numbers)
        source = self.locations.source
        is_source = source is not None and self.locations.text is not None and title == source.path.name
        whole = self.locations.text.whole_location if is_source and self.locations.text is not None else None
        return Node(
            identifier,
            brief(title, TITLE_LIMIT),
            "document",
            whole or reference(SCHEME, name or "other"),
            None,
            children,
        )

    def _node(self, number: str, below: Mapping[str, list[str]]) -> Node:
        given = self.given[number]
        identifier = self._named(number)
        location = self.locations(given)
        children = tuple(self._node(child, below) for child in in_order(below.get(number, []), self.given))
        node = Node(
            id=identifier,
            title=brief(given.title, TITLE_LIMIT) or opening(given.text) or brief(number, TITLE_LIMIT) or "node",
            type=given.type,
            location=location or reference(SCHEME, f"node/{number}"),
            summary=brief(given.text, SUMMARY_LIMIT) or None,
            children=children,
        )
        return _containing_children(node)

    def _named(self, number: str) -> str:
        """Return the node's own ID if it is unused and matches `_USABLE_ID`; else a new ID."""
        usable = _USABLE_ID.fullmatch(number) is not None and number not in self.taken
        name = number if usable else node_id("", number, self.taken, fallback="node")
        self.taken.add(name)
        return name


def _containing_children(node: Node) -> Node:
    """Return the node with its location extended to contain its children's, or made virtual."""
    if isinstance(node.location, Virtual) or not node.children:
        return node
    locations = [child.location for child in node.children if not isinstance(child.location, Virtual)]
    if all(node.location.contains(location) for location in locations):
        return node
    return evolve(node, location=enclosing([node.location, *locations]) or reference(SCHEME, f"node/{node.id}"))
