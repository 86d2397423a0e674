"""Reads LlamaIndex nodes from a list, a docstore, or the folder of a persisted index, with their tree and order.

It accepts the output of `to_dict` and `persist` in llama-index-core, the older form with `doc_id` and `extra_info`, and
nodes inside the metadata of a vector store (`_node_content`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import define, field

from citekit.adapters.importers.json_files import in_folder, read_json
from citekit.adapters.importers.tree_building import parents_of
from citekit.domain.errors import FaultyAnswer

_RELATIONS = {"2": "previous", "3": "next", "4": "parent", "5": "child"}
"""`NodeRelationship` of llama_index.core.schema; "1" is the document of a node."""


@define
class LlamaNode:
    """A LlamaIndex node; `number` is its ID.

    `chars` (start, end) are character offsets in its document, end excluded. `parent` and `next` are the IDs of other
    nodes, or "" if there is none, and `children` are the IDs of its children.
    """

    number: str
    text: str
    metadata: Mapping[str, object]
    chars: tuple[int, int] | None = None
    type: str = "text_chunk"
    parent: str = ""
    next: str = ""
    children: list[str] = field(factory=list)

    @property
    def file(self) -> str:
        """The path or name of the node's file in its metadata, or ""."""
        return self._first_text("file_path", "file_name", "filename")

    @property
    def title(self) -> str:
        """The title of the node or of its section in its metadata, or ""."""
        return self._first_text("title", "section_title", "Header_3", "Header_2", "Header_1")

    @property
    def page_label(self) -> str:
        """The page label or page number in the node's metadata, or ""."""
        label = self.metadata.get("page_label", self.metadata.get("page_number"))
        if label is None and "total_pages" in self.metadata:
            label = self.metadata.get("source")  # PyMuPDFReader
        return str(label) if isinstance(label, str | int) and not isinstance(label, bool) else ""

    def _first_text(self, *names: str) -> str:
        values = (self.metadata.get(name) for name in names)
        return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def read_nodes(data: object, where: str) -> dict[str, LlamaNode]:
    """Return the nodes in `data`, a path or plain data, by ID, in their stored order.

    `where` names the data in messages. Raise `FaultyAnswer` if there are no nodes or the data is not valid, and
    `SourceUnreadable` if a file cannot be read.
    """
    trees: Mapping[str, list[str]] = {}
    if isinstance(data, Path):
        folder = data
        data = read_json(in_folder(data, data / "docstore.json") if data.is_dir() else data)
        trees = _trees(in_folder(folder, folder / "index_store.json")) if folder.is_dir() else {}
    found: dict[str, LlamaNode] = {}
    for count, (name, raw) in enumerate(_items(data, where)):
        node = _node(raw, name or str(count + 1))
        if node is not None:
            found.setdefault(node.number, node)
    if not found:
        raise FaultyAnswer(where, ["$: the data contains no LlamaIndex nodes"])
    for number, children in trees.items():
        if number in found:
            found[number].children += children
    return found


def _items(data: object, where: str) -> Iterator[tuple[str, object]]:
    """Yield the ID ("" if unknown) and the raw data of everything in `data` that may be a node."""
    if isinstance(data, list | tuple):
        yield from (("", item) for item in data)
    elif isinstance(data, Mapping):
        inside = next((data[name] for name in ("docstore/data", "docstore", "data", "nodes") if data.get(name)), None)
        if isinstance(inside, Mapping | list) and not _is_node(data):
            yield from _items(inside, where)
        elif _is_node(data):
            yield "", data
        else:
            yield from ((str(name), item) for name, item in data.items())
    else:
        raise FaultyAnswer(where, [f"$: the data must be a list of nodes or a docstore, not {type(data).__name__}"])


def _is_node(data: Mapping[str, object]) -> bool:
    return any(name in data for name in ("id_", "node_id", "doc_id", "text", "__data__", "_node_content"))


def _node(raw: object, name: str) -> LlamaNode | None:
    plain = _unwrapped(raw)
    if plain is None or not _is_node(plain):
        return None
    metadata = plain.get("metadata", plain.get("extra_info"))
    start, end = plain.get("start_char_idx"), plain.get("end_char_idx")
    relations = {which: list(_related(value)) for which, value in _relations(plain)}
    return LlamaNode(
        number=next((str(plain[key]) for key in ("id_", "node_id", "doc_id") if plain.get(key)), name),
        text=_text(plain),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        chars=(start, end) if isinstance(start, int) and isinstance(end, int) and 0 <= start < end else None,
        type=_type(plain),
        parent=next(iter(relations.get("parent", ())), ""),
        next=next(iter(relations.get("next", ())), ""),
        children=relations.get("child", []),
    )


def _unwrapped(raw: object) -> Mapping[str, object] | None:
    """Return the fields of a node from its stored envelope, from JSON text, or from a LlamaIndex object; else None."""
    for method in ("to_dict", "model_dump", "dict"):
        if not isinstance(raw, Mapping | str) and callable(getattr(raw, method, None)):
            raw = getattr(raw, method)()
    for _ in range(4):
        if isinstance(raw, str):
            try:
                raw = json.loads(raw)
            except (ValueError, RecursionError):
                return None
        if not isinstance(raw, Mapping):
            return None
        inner = next((raw[name] for name in ("__data__", "_node_content") if raw.get(name)), None)
        metadata = raw.get("metadata")
        if inner is None and isinstance(metadata, Mapping):
            inner = metadata.get("_node_content")
        if inner is None:
            return raw
        raw = inner
    return None


def _text(plain: Mapping[str, object]) -> str:
    resource = plain.get("text_resource")  # Node and Document since 0.12
    text = plain.get("text") or (resource.get("text") if isinstance(resource, Mapping) else None)
    return text if isinstance(text, str) else ""


def _type(plain: Mapping[str, object]) -> str:
    name = str(plain.get("class_name") or "")
    if name.endswith("Document"):
        return "document"
    return "image" if name == "ImageNode" else "text_chunk"


def _relations(plain: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    relations = plain.get("relationships")
    if isinstance(relations, Mapping):
        for name, value in relations.items():
            plain_name = str(name).rpartition(".")[2].lower()
            yield _RELATIONS.get(plain_name, plain_name), value


def _related(value: object) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        number = each.get("node_id") if isinstance(each, Mapping) else each
        if isinstance(number, str) and number:
            yield number


def _trees(path: Path) -> dict[str, list[str]]:
    """Return the children of each node in the tree indexes (`IndexGraph`) of the index store at `path`."""
    data = read_json(path) if path.is_file() else {}
    stored = data.get("index_store/data") if isinstance(data, Mapping) else None
    found: dict[str, list[str]] = {}
    for raw in stored.values() if isinstance(stored, Mapping) else ():
        inner = _unwrapped(raw)
        children = inner.get("node_id_to_children_ids") if inner is not None else None
        for number, below in children.items() if isinstance(children, Mapping) else ():
            found.setdefault(str(number), []).extend(str(each) for each in below if isinstance(each, str))
    return found


def tree_of(nodes: Mapping[str, LlamaNode]) -> dict[str, str]:
    """Return the parent's ID for each node that has a parent in `nodes`. See `parents_of`."""
    pairs = [(number, node.parent) for number, node in nodes.items()]
    return parents_of([*pairs, *((child, number) for number, node in nodes.items() for child in node.children)], nodes)


def in_order(numbers: Sequence[str], nodes: Mapping[str, LlamaNode]) -> list[str]:
    """Return sibling nodes in their stored order, except that each is followed by the one that it names as next."""
    family = set(numbers)
    followers = {nodes[number].next for number in numbers if nodes[number].next in family - {number}}
    ordered: dict[str, None] = {}
    for start in [*(number for number in numbers if number not in followers), *numbers]:
        number = start
        while number in family and number not in ordered:
            ordered[number] = None
            number = nodes[number].next
    return list(ordered)
