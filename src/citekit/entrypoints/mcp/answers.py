"""What is said to an agent: JSON once as structure and once as text, files as links, errors as sentences."""

from __future__ import annotations

import json
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from attrs import define, evolve, field, frozen
from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent

from citekit.application.structure import Structure
from citekit.domain.errors import ResourceMissing, SourceChanged, SourceMoved
from citekit.domain.evidence import Evidence
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.mcp.path_redaction import Discretion
from citekit.entrypoints.mcp.untrusted_text import quoted, quoted_json
from citekit.settings.secrets import concealed
from citekit.wire import maps, receipts

LONGEST_ERROR = 1200
"""Characters of an error text: an agent pays for each, and some come from its own arguments."""


@frozen
class Answer:
    """JSON text, which is said once as text and once as structure; `links` are files that belong to it."""

    text: str
    links: Sequence[ResourceLink] = ()

    @classmethod
    def of(cls, plain: dict[str, Any], links: Sequence[ResourceLink] = ()) -> Answer:
        """The answer that is this data. Names of files may hold bytes that are no text; they become question marks."""
        return cls(quoted_json(compact(plain).encode("utf-8", "replace").decode()), links)

    @cached_property
    def data(self) -> bytes:
        """The text as it stands on the wire where it is structure."""
        return self.text.encode()

    @cached_property
    def content(self) -> bytes:
        """The text as it stands on the wire, as the one item of a content."""
        return f'{{"type":"text","text":{json.dumps(self.text, ensure_ascii=False)}}}'.encode()

    @cached_property
    def linked_content(self) -> bytes:
        """The same with the links behind it."""
        links = (link.model_dump_json(by_alias=True, exclude_none=True).encode() for link in self.links)
        return b",".join((self.content, *links))

    def result(self, *, with_links: bool) -> CallToolResult:
        """As a tool's result. Clients before 2025-06-18 know no links."""
        content: list[ContentBlock] = [TextContent(text=self.text)]
        return CallToolResult(
            content=[*content, *(self.links if with_links else ())], structured_content=json.loads(self.text)
        )


def failure(error: BaseException, discreet: Discretion, *, structure: bool = False) -> CallToolResult:
    """An error as a tool's result. `getStructure` (`structure`) says where it looked for a map; the others do not."""
    text = told(discreet(_told(error, structure), error))
    return CallToolResult(content=[TextContent(text=f"Error: {text}")], is_error=True)


def told(text: str) -> str:
    """The text of an error for an agent: harmless, without secrets, and of limited length."""
    shown = quoted(concealed(text))
    return shown if len(shown) <= LONGEST_ERROR else f"{shown[:LONGEST_ERROR]}..."


def compact(plain: object) -> str:
    """JSON without any space that is not needed, any script as it is."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def node_answer(node: Node) -> Answer:
    """A node with the ids of its children."""
    return Answer.of(maps.to_plain_node(node, depth=0))


def evidence_answer(evidence: Evidence, discreet: Discretion) -> Answer:
    """Evidence, its file as a link beside it."""
    plain: dict[str, Any] = {
        "output_path": None if evidence.output_path is None else str(evidence.output_path),
        "modality": evidence.location.modality.value,
        "address": str(evidence.address),
        "node": _alone(evidence.node),
        "resource_id": evidence.resource_id,
    }
    if evidence.stale is not None:
        plain.update(stale=True, stale_reason=discreet(evidence.stale))
    if evidence.unchecked is not None:
        plain["unchecked"] = concealed(discreet(evidence.unchecked))
    if evidence.receipt is not None:
        notes = [*evidence.receipt.notes, *([] if evidence.moved is None else [concealed(discreet(evidence.moved))])]
        if notes:
            plain["notes"] = notes
        plain["receipt"] = receipts.to_plain(evidence.receipt)
    return Answer.of(plain, _links(evidence))


KEPT_CHARACTERS = 4 * 1024 * 1024
"""Characters of the answers that are kept; those least recently given go first. Each is kept in up to four forms."""


@define
class KeptAnswers:
    """Earlier answers, each cached as long as the port returns the very object that it was made from.

    An answer does not keep a map in memory: the map cache decides how many maps stay.
    """

    limit: int = KEPT_CHARACTERS
    _kept: OrderedDict[Hashable, tuple[Callable[[], object], Answer]] = field(factory=OrderedDict, init=False)
    _size: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, name: Hashable, told_by: object, make: Callable[[], Answer]) -> Answer:
        """The answer called `name`, which is read off `told_by` alone; made where it is not kept."""
        return self.known(name, told_by) or self._keep(name, told_by, make())

    def known(self, name: Hashable, told_by: object) -> Answer | None:
        """The answer called `name`, if it was read off that very object."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or kept[0]() is not told_by:
                return None
            self._kept.move_to_end(name)
            return kept[1]

    def _keep(self, name: Hashable, told_by: object, answer: Answer) -> Answer:
        with self._lock:
            self._drop(name)
            self._kept[name] = _reference(told_by), answer
            self._size += len(answer.text)
            while self._size > self.limit and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))
        return answer

    def _drop(self, name: Hashable) -> None:
        kept = self._kept.pop(name, None)
        self._size -= len(kept[1].text) if kept else 0


def _reference(told_by: object) -> Callable[[], object]:
    """What gives the object as long as anybody else has it; a list of ids for as long as it is kept here."""
    try:
        return weakref.ref(told_by)
    except TypeError:
        return lambda: told_by


def structure_answer(structure: Structure) -> Answer:
    """A map, or the part of it that was asked for and fits; then what is left out is said before the nodes."""
    if structure.whole:
        return map_answer(structure.resource_map)
    plain = maps.to_plain_map(evolve(structure.resource_map, nodes=structure.nodes))
    nodes = plain.pop("nodes")
    _count_children(nodes, structure.resource_map)
    plain["truncated"] = structure.next_cursor is not None
    if structure.next_cursor is not None:
        plain["next_cursor"] = structure.next_cursor
    return Answer.of({**plain, "total_nodes": structure.total, "nodes": nodes})


def map_answer(resource_map: ResourceMap) -> Answer:
    """A whole map."""
    return Answer.of(maps.to_plain_map(resource_map))


def _count_children(nodes: Sequence[dict[str, Any]], resource_map: ResourceMap) -> None:
    pending = list(nodes)
    while pending:
        plain = pending.pop()
        count = len(resource_map.find(plain["id"]).children)
        if count > len(plain["children"]):
            plain["child_count"] = count
        pending.extend(plain["children"])


def _alone(node: Node | None) -> Mapping[str, Any] | None:
    if node is None:
        return None
    return {key: value for key, value in maps.to_plain_node(node, depth=0).items() if key != "children"}


def _links(evidence: Evidence) -> Sequence[ResourceLink]:
    path, receipt = evidence.output_path, evidence.receipt
    if path is None or receipt is None:
        return ()
    link = ResourceLink(
        uri=path.as_uri(),
        name=quoted(path.name),
        description=quoted(f"Evidence: {evidence.address}"),
        mime_type=receipt.media_type,
        size=receipt.evidence_size,
    )
    return (link,)


def _told(error: BaseException, structure: bool) -> str:
    match error:
        case ResourceMissing() if not structure:
            near = " or ".join(f"'{name}'" for name in error.nearest[:3])
            return f"Resource '{error.resource_id}' not found.{near and f' Did you mean {near}?'}"
        case SourceChanged(during_mapping=False):
            return (
                f"The source of '{error.resource_id}' has changed since it was mapped: {error.path}. To "
                "map it again, call resolve with remap: true; node ids may change."
            )
        case SourceMoved():
            return (
                f"The source of '{error.resource_id}' is not at {error.path}. Put the file back, ingest "
                "it from its new path, or add its folder to CITEKIT_ROOTS on the server. Virtual answers "
                "still work."
            )
    return sentence(error)
