"""Defines the core tools and connects them with their use cases."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen
from mcp_types import Tool, ToolAnnotations

from citekit.application.named_parts import part_named
from citekit.application.resolve_cache import Asked
from citekit.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import RequestRefused
from citekit.domain.evidence import Evidence, Form, Options
from citekit.domain.modality import BY_DIGEST
from citekit.domain.node import NodeName
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import (
    Answer,
    KeptAnswers,
    Remedies,
    error_text,
    evidence_answer,
    node_answer,
)
from citekit.entrypoints.mcp.arguments import checked, with_ids_meant
from citekit.entrypoints.mcp.evidence_card import EVIDENCE_PAGE, SHOW_EVIDENCE, evidence_page, show_evidence
from citekit.entrypoints.mcp.find_text_tool import FIND_TEXT, find_text
from citekit.entrypoints.mcp.ingest_tool import INGEST, ingest
from citekit.entrypoints.mcp.list_resources_tool import LIST_RESOURCES, ids_answer, list_resources
from citekit.entrypoints.mcp.path_redaction import NO_FOLDERS, Discretion
from citekit.entrypoints.mcp.read_text_tool import READ_TEXT, read_text
from citekit.entrypoints.mcp.remote import Remote
from citekit.entrypoints.mcp.search_fetch_tools import FETCH, SEARCH, fetch, search
from citekit.entrypoints.mcp.structure_tool import (
    GET_STRUCTURE,
    is_whole_map,
    map_answer,
    read_structure,
    structure_answer,
)
from citekit.entrypoints.mcp.verify_quote_tool import VERIFY_QUOTE, verify_quote

Arguments = Mapping[str, Any]
Run = Callable[[Arguments, Progress], Answer]
Check = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], dict[str, Any]]
"""Returns the valid arguments of a call, without those that are null, given the name of the tool, its input schema, and
the arguments. Raises `RequestRefused` if they do not match the schema.
"""

Refused = Callable[[Arguments, BaseException], Answer]
"""Makes the answer to an error from the unvalidated arguments and the error."""

_RESOURCE = schemas.text()
_NODE_ID = schemas.text("A node id from getStructure.")
_LOOKS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_CUTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

GET_NODE = Tool(
    name="getNode",
    title="Show one node",
    description="Returns one node: title, type, location, summary, and child ids.",
    input_schema=schemas.inputs({"resource_id": _RESOURCE, "node_id": _NODE_ID}, ("resource_id", "node_id")),
    output_schema=dict(schemas.NODE),
    annotations=_LOOKS,
)

RESOLVE = Tool(
    name="resolve",
    title="Cite or extract a part of a file",
    description=(
        "Turns a node or address into evidence. With virtual: true, returns only the address to cite and whether the source "
        "has changed. Otherwise, extracts the part (PDF pages, a clip, a crop, lines) to output_path and uri, and shows "
        "text, pictures, and short sounds."
    ),
    input_schema=schemas.inputs(
        {
            "resource_id": _RESOURCE,
            "node_id": schemas.text("A node id or address (pages=12-15)."),
            "virtual": schemas.flag("Only the address."),
            "accurate": schemas.flag("Exact clip, re-encoded."),
            "as": schemas.text(
                "pdf, png, or text for pages and chapters; html for chapters and cells; frame for video; text, vtt, or srt "
                "for speech; source (exact bytes) or table (CSV) for lines.",
                schemas.FORMS,
            ),
            "width": schemas.count("Pixels of an inline picture."),
            "remap": schemas.flag("Map a changed source again."),
        },
        ("resource_id",),
    ),
    output_schema=dict(schemas.EVIDENCE),
    annotations=_CUTS,
)


@frozen
class Bound:
    """A tool with the function `run` that runs it.

    `long` returns whether a call can take long. `cached` returns the same result as `run` if that requires only file
    metadata, otherwise None; it is called in the event loop. `check` validates the arguments. `refused` converts errors
    to results in the tool's own form; without it, errors are returned as texts.
    """

    tool: Tool
    run: Run
    long: Callable[[Arguments], bool] = lambda _: False
    check: Check = checked
    refused: Refused | None = None
    cached: Callable[[Arguments], Answer | None] = lambda _: None


@define
class Tools:
    """The core tools for one home folder. Thread-safe."""

    app: Container
    answers: KeptAnswers = field(factory=KeptAnswers)
    remote: Remote | None = None
    discreet: Discretion = field(init=False)
    _parsed: dict[Hashable, Asked] = field(factory=dict, init=False)

    @discreet.default
    def _discretion(self) -> Discretion:
        if self.remote is not None:
            return Discretion(NO_FOLDERS)
        chosen = self.app.settings
        return Discretion(self.app.client_folders, (chosen.maps_folder, chosen.output_folder))

    @property
    def remedies(self) -> Remedies:
        """What the client can do about sources that changed or moved."""
        is_local = self.remote is None
        return Remedies(
            remap=self.remote is None or self.remote.may_ingest, ingest=self.app.settings.client_ingest, roots=is_local
        )

    def _error_text(self, error: BaseException) -> str:
        return error_text(error, self.discreet, self.title_of, remedies=self.remedies)

    def title_of(self, resource_id: str) -> str:
        """Return the title of a resource. Raise `CiteKitError` if its map cannot be read."""
        return self.app.maps.get(resource_id).title

    def bound(self) -> dict[str, Bound]:
        """Return the tools by name, in their typical order of use."""
        tools = (
            Bound(
                LIST_RESOURCES,
                self._list_resources,
                lambda arguments: bool(arguments.get("query")),  # the first search reads the summaries of all maps
                cached=self._listed,
            ),
            Bound(FIND_TEXT, partial(find_text, self.app, self.discreet), lambda _: True),
            Bound(READ_TEXT, self._read_text, lambda _: True, cached=self._cached_text),
            Bound(GET_STRUCTURE, self._get_structure, cached=self._cached_structure),
            Bound(GET_NODE, self._get_node, cached=self._cached_node),
            Bound(
                RESOLVE,
                self._resolve,
                lambda _: True,  # for an address, the extent of the file may have to be measured
                cached=self._cached_evidence,
            ),
            Bound(VERIFY_QUOTE, partial(verify_quote, self.app, self._error_text), lambda _: True),
        )
        offered = (*tools, self._ingesting()) if self.app.settings.client_ingest else tools
        if self.remote is not None:
            offered = (*offered, *self._aliases())
        return {
            each.tool.name: evolve(each, run=partial(self._with_ids_meant, each.run))
            for each in (*offered, *self._for_cards())
        }

    def _with_ids_meant(self, run: Run, arguments: Arguments, progress: Progress) -> Answer:
        return with_ids_meant(lambda meant: run(meant, progress), arguments, self.app.maps.ids)

    def _aliases(self) -> Sequence[Bound]:
        return (
            Bound(SEARCH, partial(search, self.app), lambda _: True),
            Bound(FETCH, partial(fetch, self.app, self.discreet), lambda _: True),
        )

    def _for_cards(self) -> Sequence[Bound]:
        return (
            Bound(SHOW_EVIDENCE, partial(show_evidence, self.app), lambda _: True),
            Bound(EVIDENCE_PAGE, partial(evidence_page, self.app), lambda _: True),
        )

    def _ingesting(self) -> Bound:
        find = None if self.remote is None else self.remote.paths.found
        return Bound(INGEST, partial(ingest, self.app, find=find), lambda _: True)

    @property
    def _shown_path(self) -> Callable[[str], str] | None:
        """A function that returns the path that a remote client sees, or None for a client on this computer."""
        return None if self.remote is None else self.remote.paths.shown

    def seen(self, outline: ResourceMap) -> ResourceMap:
        """Return a map with the source's path as the client sees it."""
        shown = self._shown_path
        return outline if shown is None else evolve(outline, source_path=shown(outline.source_path))

    def whole(self, resource_map: ResourceMap) -> Answer:
        """Return the result that contains a complete map without the library's chunks, whatever its size.

        The cached result of `getStructure` is used, if it is complete.
        """
        name = MAP, resource_map.resource_id
        fitting = self.answers.known(name, resource_map)
        return fitting or self.answers.of(
            (RESOURCE, *name), resource_map, lambda: map_answer(self.seen(resource_map.outline))
        )

    def _list_resources(self, arguments: Arguments, _progress: Progress) -> Answer:
        if arguments:
            return list_resources(self.app, arguments, self._shown_path)
        ids = self.app.maps.ids()
        return self.answers.of(LIST_RESOURCES.name, ids, lambda: ids_answer(ids))

    def _listed(self, arguments: Arguments) -> Answer | None:
        ids = None if arguments else self.app.maps.cached_ids()
        return None if ids is None else self.answers.known(LIST_RESOURCES.name, ids)

    def _read_text(self, arguments: Arguments, progress: Progress) -> Answer:
        before = self.app.maps.cached(arguments["resource_id"])
        answer = read_text(self.app, self.discreet, arguments, progress)
        if before is None or self._unchanged_text(arguments["resource_id"]) is not before:
            return answer
        return self.answers.of(_asked(READ_TEXT, arguments), before, lambda: answer)

    def _cached_text(self, arguments: Arguments) -> Answer | None:
        resource_map = self._unchanged_text(arguments["resource_id"])
        return None if resource_map is None else self.answers.known(_asked(READ_TEXT, arguments), resource_map)

    def _unchanged_text(self, resource_id: str) -> ResourceMap | None:
        """Return the cached map of a resource if only its file determines its text, and the file is unchanged.

        Otherwise, or if the digest of the file is not cached, return None.
        """
        resource_map = self.app.maps.cached(resource_id)
        if resource_map is None or resource_map.source_digest is None or resource_map.modality not in BY_DIGEST:
            return None
        path = Path(resource_map.source_path)
        digest = self.app.sources.cached_digest(path) if path.is_absolute() else None
        return resource_map if digest == resource_map.source_digest else None

    def _get_structure(self, arguments: Arguments, _progress: Progress) -> Answer:
        found = read_structure(self.app, arguments)
        name = (MAP, arguments["resource_id"]) if is_whole_map(found, arguments) else _asked(GET_STRUCTURE, arguments)
        seen = evolve(found, outline=self.seen(found.outline)) if self.remote is not None else found
        return self.answers.of(name, found.resource_map, lambda: structure_answer(seen, arguments))

    def _cached_structure(self, arguments: Arguments) -> Answer | None:
        resource_id = arguments["resource_id"]
        resource_map = self.app.maps.cached(resource_id)
        if resource_map is None:
            return None
        name = (MAP, resource_id) if len(arguments) == 1 else _asked(GET_STRUCTURE, arguments)
        return self.answers.known(name, resource_map)

    def _get_node(self, arguments: Arguments, _progress: Progress) -> Answer:
        resource_map = self.app.maps.get(arguments["resource_id"])
        node = resource_map.find(arguments["node_id"])
        name = NODE, resource_map.resource_id, node.id
        return self.answers.of(name, resource_map, lambda: node_answer(node))

    def _cached_node(self, arguments: Arguments) -> Answer | None:
        resource_id, node_id = arguments["resource_id"], arguments["node_id"]
        resource_map = self.app.maps.cached(resource_id)
        if resource_map is None:
            return None
        known = self.answers.known((NODE, resource_id, node_id), resource_map)
        return known or (self._get_node(arguments, silent) if node_id in resource_map else None)

    def _resolve(self, arguments: Arguments, progress: Progress) -> Answer:
        evidence = self.app.resolve(
            self._part(arguments),
            virtual=arguments.get("virtual", False),
            options=_options(arguments),
            remap=arguments.get("remap", False),
            progress=progress,
        )
        return self._evidence(evidence, arguments)

    def _part(self, arguments: Arguments) -> NodeName | Address:
        """Return the node or address to resolve. Raise `RequestRefused` for a whole resource."""
        what = part_named(self.app.maps, arguments["resource_id"], arguments.get("node_id"))
        if isinstance(what, str):
            raise RequestRefused(
                "resolve requires the argument node_id, or an address with a part, such as doc://book#pages=12, as "
                "resource_id."
            )
        return what

    def _evidence(self, evidence: Evidence, arguments: Arguments) -> Answer:
        """Return the answer for evidence, cached as long as the evidence object."""
        asked, width = self._asked_evidence(arguments), arguments.get("width")
        if not _needs_map(arguments):
            if len(self._parsed) >= PARSED:
                self._parsed.clear()
            self._parsed[_request(arguments)] = asked
        kept = self.app.resolve.cached(asked)
        if kept is None or kept.receipt != evidence.receipt:
            kept = evidence

        def made() -> Answer:
            receipt = kept.receipt
            inline = None if receipt is None else self.app.evidence_content.inline(receipt, width)
            return evidence_answer(kept, self.discreet, inline, self._shown_path)

        return self.answers.of((asked, width), kept, made)

    def _cached_evidence(self, arguments: Arguments) -> Answer | None:
        if _needs_map(arguments) and (
            "node_id" not in arguments or self.app.maps.cached(arguments["resource_id"]) is None
        ):
            return None  # maps are not read in the event loop
        asked = self._asked_evidence(arguments)
        evidence = self.app.resolve.cached(asked)
        if evidence is None:
            return None
        known = self.answers.known((asked, arguments.get("width")), evidence)
        if known is not None or evidence.receipt is not None:
            return known  # the content of evidence is not read in the event loop
        return self._evidence(evidence, arguments)

    def _asked_evidence(self, arguments: Arguments) -> Asked:
        """Return the cache key for the evidence, the same object for a request that was answered, so that its address
        is parsed and its hash is computed once.
        """
        return self._parsed.get(_request(arguments)) or Asked(
            self._part(arguments)
            if _may_be_address(arguments)
            else NodeName(arguments["resource_id"], arguments["node_id"]),
            arguments.get("virtual", False),
            _options(arguments),
        )


MAP, RESOURCE, NODE = "map", "resource", "node"

PARSED = 1024
"""The maximum number of answered requests for evidence that are cached as parsed."""

_ADDRESSES_HAVE = frozenset("=#/")
"""A text without any of these characters is a node ID, not an address."""


def _asked(tool: Tool, arguments: Arguments) -> Hashable:
    """Return the cache key for the result of a tool call."""
    return (tool.name, *sorted(arguments.items()))


def _may_be_address(arguments: Arguments) -> bool:
    return not _ADDRESSES_HAVE.isdisjoint(arguments.get("node_id", "#")) or "/" in arguments["resource_id"]


def _needs_map(arguments: Arguments) -> bool:
    """Return whether the map of the resource determines what the arguments name."""
    return _may_be_address(arguments) and "://" not in arguments.get("node_id", "")


def _request(arguments: Arguments) -> Hashable:
    """Return what determines the evidence of a call of `resolve`."""
    return tuple(map(arguments.get, ("resource_id", "node_id", "virtual", "as", "accurate")))


def _options(arguments: Arguments) -> Options:
    return Options(Form(arguments.get("as", Form.NATIVE)), arguments.get("accurate", False))
