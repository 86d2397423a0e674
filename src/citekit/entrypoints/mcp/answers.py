"""Creates the results that agents receive from tools.

Data is sent as JSON, both as text and as structured content, and evidence also as links and inline content.
"""

from __future__ import annotations

import json
import weakref
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from threading import Lock

from attrs import define, field, frozen
from mcp_types import AudioContent, CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent

from citekit.application.evidence_content import InlineContent, Kind
from citekit.domain.chunks import without_chunk_children
from citekit.domain.errors import CiteKitError, MapperUnavailable, ResourceMissing, SourceChanged, SourceMoved
from citekit.domain.evidence import Evidence, Receipt
from citekit.domain.node import Node
from citekit.domain.phrases import series
from citekit.entrypoints.failures import naming_variables, sentence
from citekit.entrypoints.mcp.path_redaction import Discretion
from citekit.entrypoints.mcp.resources import evidence_uri, smaller_form
from citekit.entrypoints.mcp.untrusted_text import quoted, quoted_json
from citekit.settings.secrets import concealed
from citekit.wire import locations, maps

LONGEST_ERROR = 1200
"""The maximum number of characters in an error text, which can repeat the agent's arguments. Agents pay for every
token.
"""


@frozen
class Answer:
    """The result of a tool: a JSON text that is sent both as text content and as structured content.

    `attachments` are links to evidence, and short evidence itself. `summary` is sent as the text content instead, in
    fewer characters. `is_error` is true if the tool failed and the data says so.
    """

    text: str
    attachments: Sequence[ContentBlock] = ()
    summary: str | None = None
    is_error: bool = False

    @classmethod
    def of(
        cls, plain: dict[str, object], attachments: Sequence[ContentBlock] = (), *, summary: str | None = None
    ) -> Answer:
        """Create the result for the data `plain`. Invalid bytes of file names become question marks."""
        shown = None if summary is None else "\n".join(map(quoted, _encodable(summary).split("\n")))
        return cls(quoted_json(_encodable(compact(plain))), attachments, shown)

    @property
    def shown(self) -> str:
        """The text content of the result: the summary, or else the JSON text."""
        return self.text if self.summary is None else self.summary

    @cached_property
    def data(self) -> bytes:
        """The structured content as bytes to send."""
        return self.text.encode()

    @cached_property
    def content(self) -> bytes:
        """The JSON object for the text content as bytes to send."""
        return f'{{"type":"text","text":{json.dumps(self.shown, ensure_ascii=False)}}}'.encode()

    @cached_property
    def whole_content(self) -> bytes:
        """The JSON objects for all content, separated by commas, as bytes to send."""
        return b",".join((self.content, *map(_as_bytes, self.attachments)))

    @cached_property
    def basic_content(self) -> bytes:
        """The content without attachments that older clients do not support."""
        return b",".join((self.content, *map(_as_bytes, filter(_is_basic, self.attachments))))

    @property
    def size(self) -> int:
        """The approximate number of characters of the answer in memory."""
        return len(self.text) + sum(len(str(getattr(each, "data", ""))) for each in self.attachments)

    def result(self, *, whole: bool) -> CallToolResult:
        """Return the answer as an MCP tool result.

        With `whole=False`, for protocol versions before 2025-06-18, attachments other than texts and images are left
        out.
        """
        content: list[ContentBlock] = [TextContent(text=self.shown)]
        return CallToolResult(
            content=[*content, *(each for each in self.attachments if whole or _is_basic(each))],
            structured_content=json.loads(self.text),
            is_error=self.is_error,
        )


def _is_basic(block: ContentBlock) -> bool:
    return isinstance(block, TextContent | ImageContent)


def _as_bytes(block: ContentBlock) -> bytes:
    return block.model_dump_json(by_alias=True, exclude_none=True).encode()


@frozen
class Remedies:
    """What a client can do about a source that changed or moved: `remap` it with `resolve`, `ingest` it, or have its
    folder added to the `roots` of the server.
    """

    remap: bool
    ingest: bool
    roots: bool


def failure(
    error: BaseException,
    discreet: Discretion,
    title_of: Callable[[str], str],
    *,
    structure: bool = False,
    remedies: Remedies,
) -> CallToolResult:
    """Return an error as an MCP tool result.

    `discreet` removes paths that the client must not see. `title_of` returns the titles of suggested resource IDs. With
    `structure`, as in `getStructure`, the text says where the missing map was expected.
    """
    text = error_text(error, discreet, title_of, structure=structure, remedies=remedies)
    return CallToolResult(content=[TextContent(text=f"Error: {text}")], is_error=True)


def error_text(
    error: BaseException,
    discreet: Discretion,
    title_of: Callable[[str], str],
    *,
    structure: bool = False,
    remedies: Remedies,
) -> str:
    """Return the text of an error for agents. See `failure` for the arguments."""
    return told(discreet(_told(error, structure, title_of, remedies), error))


def told(text: str) -> str:
    """Return the text of an error for agents: without secrets, with invisible characters escaped, and cut after
    `LONGEST_ERROR` characters.
    """
    shown = quoted(concealed(text))
    return shown if len(shown) <= LONGEST_ERROR else f"{shown[:LONGEST_ERROR]}..."


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def compact(plain: object) -> str:
    """Return data as JSON without unnecessary white space and escapes."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def node_answer(node: Node) -> Answer:
    """Return the result for a node, without the library's chunks."""
    return Answer.of(maps.to_plain_node(without_chunk_children(node), depth=0))


def evidence_answer(
    evidence: Evidence,
    discreet: Discretion,
    inline: InlineContent | None = None,
    shown_path: Callable[[str], str] | None = None,
) -> Answer:
    """Return the result for evidence, with a link to its content and the content `inline`, or a note if that is None.

    `discreet` removes paths that the client must not see. For a client on another computer, `shown_path` returns the
    path of the source that it sees, and there is no output path.
    """
    plain: dict[str, object] = {
        "output_path": None if evidence.output_path is None or shown_path else str(evidence.output_path),
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
        plain["uri"] = evidence_uri(evidence.receipt.evidence_digest)
        plain["receipt"] = _short(evidence.receipt, shown_path or str)
    shown = [] if evidence.receipt is None else _inline(inline, evidence.receipt)
    return Answer.of(plain, (*_links(evidence), *shown))


KEPT_CHARACTERS = 4 * 1024 * 1024
"""The size limit of the answer cache in characters (`Answer.size`). Copies encoded as bytes are not counted."""


@define
class KeptAnswers:
    """A cache of tool results, each for the object that it was made from, such as a map.

    A result is valid only while the cache of maps returns the same object. Maps are referenced weakly, so that cache
    decides how many stay in memory. `limit` is the maximum size in characters.
    """

    limit: int = KEPT_CHARACTERS
    _kept: OrderedDict[Hashable, tuple[Callable[[], object], Answer]] = field(factory=OrderedDict, init=False)
    _size: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, name: Hashable, told_by: object, make: Callable[[], Answer]) -> Answer:
        """Return the cached result `name` if it was made from `told_by`. Otherwise, create it with `make` and cache it."""
        return self.known(name, told_by) or self._keep(name, told_by, make())

    def known(self, name: Hashable, told_by: object) -> Answer | None:
        """Return the cached result `name` if it was made from `told_by`; otherwise None."""
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
            self._size += answer.size
            while self._size > self.limit and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))
        return answer

    def _drop(self, name: Hashable) -> None:
        kept = self._kept.pop(name, None)
        self._size -= kept[1].size if kept else 0


def _reference(told_by: object) -> Callable[[], object]:
    """Return a function that returns `told_by`, which it references weakly if the type of the object supports that."""
    try:
        return weakref.ref(told_by)
    except TypeError:
        return lambda: told_by


def _alone(node: Node | None) -> Mapping[str, object] | None:
    if node is None:
        return None
    return {key: value for key, value in maps.to_plain_node(node, depth=0).items() if key != "children"}


def _links(evidence: Evidence) -> Sequence[ResourceLink]:
    path, receipt = evidence.output_path, evidence.receipt
    if path is None or receipt is None:
        return ()
    link = ResourceLink(
        uri=evidence_uri(receipt.evidence_digest),
        name=quoted(path.name),
        description=quoted(f"Evidence: {evidence.address}"),
        mime_type=receipt.media_type,
        size=receipt.evidence_size,
    )
    return (link,)


def _inline(content: InlineContent | None, receipt: Receipt) -> list[ContentBlock]:
    """Return evidence as content for a client, with a note if it is truncated, reduced, or not shown."""
    uri = evidence_uri(receipt.evidence_digest)
    if content is None:
        size = f"{receipt.media_type}, {receipt.evidence_size:,} bytes"
        # a picture that is not shown cannot be reduced, to any width
        advice = "" if receipt.media_type.startswith("image/") else f"{smaller_form(receipt)} "
        return [TextContent(text=quoted(f"Not shown here ({size}). {advice}The complete evidence is at {uri}"))]
    note = [TextContent(text=f"{content.note} The complete evidence is at {uri}")] if content.note else []
    match content.kind:
        case Kind.TEXT:
            text = content.data.decode("utf-8", "replace")
            return [TextContent(text="\n".join(map(quoted, text.split("\n")))), *note]
        case Kind.IMAGE:
            return [ImageContent(data=b64encode(content.data).decode(), mime_type=content.media_type), *note]
        case Kind.AUDIO:
            return [AudioContent(data=b64encode(content.data).decode(), mime_type=content.media_type), *note]


def _short(receipt: Receipt, shown_path: Callable[[str], str]) -> dict[str, object]:
    """Return the fields of a receipt that an agent needs. The whole receipt is a resource."""
    plain = {
        "evidence_digest": receipt.evidence_digest.hex,
        "evidence_size": receipt.evidence_size,
        "media_type": receipt.media_type,
        "source_digest": receipt.source_digest.hex,
        "source_path": shown_path(receipt.source_path),
    }
    if receipt.extent != receipt.location:
        plain["extent"] = locations.to_plain(receipt.extent)
    return plain


def _told(error: BaseException, structure: bool, title_of: Callable[[str], str], remedies: Remedies) -> str:
    match error:
        case ResourceMissing() if not structure:
            near = " or ".join(f"'{name}'{_titled(name, title_of)}" for name in error.nearest[:3])
            return f"Resource '{error.resource_id}' not found.{near and f' Did you mean {near}?'}"
        case SourceChanged(during_mapping=False):
            remedy = (
                "To map it again, call resolve with remap: true; node IDs may change."
                if remedies.remap
                else "To get only the address of a part, call resolve with virtual: true."
            )
            return f"The source of '{error.resource_id}' has changed since it was mapped: {error.path}. {remedy}"
        case SourceMoved():
            ways = ["Put the file back"]
            if remedies.ingest:
                ways.append("ingest it from its new path")
            if error.is_findable and remedies.roots:
                ways.append("add its folder to CITEKIT_ROOTS on the server")
            return (
                f"The source of '{error.resource_id}' is not at {error.path}. {series(ways, 'or')}. resolve with "
                "virtual: true still works."
            )
        case MapperUnavailable():
            return naming_variables(sentence(error))
    return sentence(error)


def _titled(name: str, title_of: Callable[[str], str]) -> str:
    """Return the title of a resource in parentheses, or nothing if it repeats the ID or the map cannot be read."""
    try:
        title = " ".join(title_of(name).split())[:80]
    except CiteKitError:
        return ""
    return "" if title.casefold() == name.casefold() else f" ({title})"
