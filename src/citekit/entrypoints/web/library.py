"""Answers requests of the viewer about everything that is mapped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from attrs import frozen
from starlette.responses import Response
from starlette.routing import BaseRoute

from citekit.application.edit_map import edits_of
from citekit.application.list_resources import ListedResource
from citekit.application.search import Hit
from citekit.application.titled_nodes import nodes_besides
from citekit.container import Container
from citekit.domain.address import fragment_of
from citekit.domain.errors import CiteKitError, MapCorrupt, RequestRefused, ResourceMissing, SourceChanged
from citekit.domain.evidence import Form
from citekit.domain.formats import format_named
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.locations import TimeSpan, Virtual
from citekit.domain.map_editing import EditKind, MapEdit
from citekit.domain.mapper_identity import EDITED
from citekit.domain.node import Node
from citekit.domain.page_view import Layout, PageSize
from citekit.domain.phrases import counted
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.limits import HIT_LIMIT
from citekit.domain.words import words_of
from citekit.entrypoints.library.ingest_command import ingest_again
from citekit.entrypoints.web.links import place_named
from citekit.entrypoints.web.requests import Asked, acting, message_of, plain, reading
from citekit.wire.found_text import to_plain
from citekit.wire.maps import to_json

_LISTED = 200


@frozen
class LibraryRoutes:
    """The routes for requests about everything that is mapped."""

    app: Container

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, relative to the path of a home."""
        return [
            reading("/api/home", self.home),
            reading("/api/resources", self.resources),
            reading("/api/map", self.map),
            reading("/api/state", self.state),
            reading("/api/tags", self.tags),
            reading("/api/place", self.place),
            acting("/api/tag", self.tag),
            acting("/api/find", self.find),
            acting("/api/edit", self.edit),
            reading("/api/export", self.export),
        ]

    def home(self, _: Asked) -> Response:
        """Return the folder of the home, and whether the user has viewed other homes."""
        home = self.app.settings.home
        return plain({"home": str(home), "others": any(each != home for each in self.app.viewed_homes())})

    def resources(self, asked: Asked) -> Response:
        """Return a page of the mapped files whose ID, title, tags, or path contain all words of `query`.

        With `tag`, return only files with that tag. `cursor` is the `next` of the previous page.
        """
        found = self.app.list_resources(
            asked.text("query", ""), asked.text("cursor", "") or None, _LISTED, asked.text("tag", "")
        )
        return plain(
            {
                "resources": [_listed(each) for each in found.resources],
                "total": found.total,
                "next": found.next_cursor,
            }
        )

    def tags(self, _: Asked) -> Response:
        """Return [tag, number of resources] for each tag."""
        return plain([[tag, len(names)] for tag, names in self.app.tag.tags().items()])

    def place(self, asked: Asked) -> Response:
        """Return the path below a home that shows what an address, or the URI of a map or of evidence, names."""
        return plain({"path": "#".join(filter(None, place_named(self.app, asked.text("of"))))})

    def tag(self, asked: Asked) -> Response:
        """Add the tag `add` to a resource or remove `remove`, and return its tags."""
        name, added, removed = asked.text("id"), asked.text("add", ""), asked.text("remove", "")
        tags = self.app.tag([name], [added] if added else [], [removed] if removed else [])
        return plain(list(tags[name]))

    def state(self, asked: Asked) -> Response:
        """Return the state of a resource and, unless it is `unchanged`, a message about it.

        The other states are `damaged` (the map), `missing` (the file), `changed` (the file), `unchecked` (the file could
        not be checked), `unfinished` (its ingest in the library, or its removal), and `scanned` (some pages).
        """
        name = asked.text("id")
        try:
            resource_map = self.app.maps.get(name)
        except MapCorrupt as error:
            return plain({"state": "damaged", "message": str(error)})
        stale = self.app.locate.staleness(resource_map)
        if stale is not None:
            kind = "unchecked" if "did not check" in stale else "missing" if "no longer" in stale else "changed"
            if kind == "changed":
                home = str(self.app.settings.home.absolute())
                changed = SourceChanged(name, resource_map.source_path, home=home)
                stale = f"{stale}. To map it again, run: {changed.command}"
            return plain({"state": kind, "message": f"{stale[:1].upper()}{stale[1:]}"})
        for book in self.app.alexandria.ledger.unfinished():
            if book.resource_id == name:
                return plain({"state": "unfinished", "message": self._unfinished(book)})
        scanned, pages = resource_map.metadata.get("scanned_pages"), resource_map.extent.pages
        if isinstance(scanned, int) and pages:
            told = f"CiteKit found scans on {scanned} of {counted(pages, 'page')}. See the notes of the file."
            return plain({"state": "scanned", "message": told})
        return plain({"state": "unchanged"})

    def _unfinished(self, book: LedgerEntry) -> str:
        """Return a message about a book that is not completely ingested or removed, with commands."""
        options = (
            f"--collection {shlex.quote(book.collection)} --home {shlex.quote(str(self.app.settings.home.absolute()))}"
        )
        return (
            "The ingest or removal of this book is running or was interrupted. If it was interrupted, ingest the book again "
            f"(citekit library {ingest_again(book)} {options}), or remove it "
            f"(citekit library remove {shlex.quote(book.resource_id)} {options})."
        )

    def map(self, asked: Asked) -> Response:
        """Return what the viewer needs to show a resource, with its nodes as rows."""
        resource_map = self.app.maps.get(asked.text("id")).outline
        name = resource_map.resource_id
        try:
            layout, problem = self.app.show.layout(name), ""
        except CiteKitError as error:  # the map can be seen without its file
            layout, problem = Layout.NOTHING, message_of(error)
        extent = resource_map.extent
        facts: dict[str, Any] = {
            "id": name,
            "title": resource_map.title,
            "type": resource_map.modality.value,
            "format": resource_map.metadata.get("format"),
            "source": resource_map.source_path,
            "version": "" if resource_map.source_digest is None else resource_map.source_digest.hex[:16],
            "layout": layout.value,
            "problem": problem,
            "scheme": resource_map.modality.scheme,
            "pages": extent.pages,
            "lines": extent.lines,
            "chapters": None if extent.chapters is None else len(extent.chapters),
            "sheets": [sheet for sheet, _, _ in extent.sheets or ()],
            "seconds": extent.seconds,
            "notes": _notes(resource_map),
            "forms": self._forms(resource_map),
            "edited": resource_map.mapper == EDITED,
            "edits": len(edits_of(resource_map)),
            "nodes": list(_rows(resource_map)),
        }
        if layout is Layout.PAGES:
            facts["sizes"] = _runs(self.app.show.page_sizes(name))
        return plain(facts)

    def _forms(self, resource_map: ResourceMap) -> list[str]:
        """Return the available forms of evidence, judged by the first node with a location in the file."""
        places = (node.location for node in resource_map.walk() if not isinstance(node.location, Virtual))
        location, format = next(places, None), format_named(str(resource_map.metadata.get("format")))
        if location is None or format is None:
            return [Form.NATIVE.value]
        found = dict.fromkeys(form for each in self.app.extractors for form in each.forms(format, location))
        return [form.value for form in found] or [Form.NATIVE.value]

    def find(self, asked: Asked) -> Response:
        """Return the lines that match a query, in all files, in one, or in those with a tag.

        `titled` are other nodes whose titles contain all words, such as scenes. Their `quote` is the title, if it is
        said in a recording, or empty.
        """
        name, tag = asked.text("id", ""), asked.text("tag", "")
        query, names = asked.text("query"), [name] if name else self.app.tag.tagged(tag) if tag else []
        found = self.app.find_text(query, names, limit=min(asked.number("limit", 50), HIT_LIMIT))
        answer = to_plain(found)
        answer["partial"] = found.is_partial
        for hit, each in zip(answer["hits"], found.hits, strict=True):
            hit["id"] = each.address.resource_id
            hit["title"] = self._title(each.address.resource_id)
        answer["titled"] = [
            {"address": str(hit.address), "text": hit.head.title, "titles": [], "id": hit.resource_id}
            | {"title": self._title(hit.resource_id), "quote": self._said(hit)}
            for hit in nodes_besides(self.app.search, query, names, found)
            if not isinstance(hit.head.location, Virtual)
        ]
        return plain(answer)

    def edit(self, asked: Asked) -> Response:
        """Correct a map, and return it. Raise `RequestRefused` for an unknown `edit`."""
        name = asked.text("id")
        match asked.text("edit"):
            case "undo":
                self.app.edit_map.undo(name)
            case "original":
                self.app.edit_map.original(name)
            case kind if kind in list(EditKind):
                values = [asked.text(value, "") for value in ("node", "title", "place")]
                self.app.edit_map(name, MapEdit(EditKind(kind), *values))
            case kind:
                raise RequestRefused(f"There is no edit named {kind!r}.")
        return self.map(asked)

    def export(self, asked: Asked) -> Response:
        """Return a map as a download in JSON."""
        resource_map = self.app.maps.get(asked.text("id"))
        named = f"attachment; filename*=utf-8''{quote(resource_map.resource_id, safe='')}.json"
        return Response(to_json(resource_map), media_type="application/json", headers={"content-disposition": named})

    def _said(self, hit: Hit) -> str:
        """Return the title of a node of a recording if its words are said in the node; else an empty string."""
        title = hit.head.title.removesuffix("...").removesuffix("\u2026").rstrip()
        if not isinstance(hit.head.location, TimeSpan):
            return ""
        try:
            transcript = self.app.show.transcript(hit.resource_id)
        except CiteKitError:  # the text was found in the index, and the file is gone
            return ""
        start, end = transcript.span_of(hit.head.location) or (0, 0)
        said = " ".join(words_of(transcript.text[start:end]))
        return title if f" {' '.join(words_of(title))} " in f" {said} " else ""

    def _title(self, resource_id: str) -> str:
        try:
            return self.app.maps.card(resource_id).title
        except (ResourceMissing, MapCorrupt):
            return resource_id


def _listed(listed: ListedResource) -> dict[str, Any]:
    card = listed.card
    if card is None:
        return {"id": listed.resource_id, "problem": "The map of this file cannot be read."}
    return {
        "id": listed.resource_id,
        "tags": list(listed.tags),
        "title": card.title,
        "type": card.type,
        "format": card.format,
        "size": card.size,
        "bytes": card.source_size,
        "nodes": card.nodes,
        "source": card.source_path,
    }


def _notes(resource_map: ResourceMap) -> list[str]:
    notes = resource_map.metadata.get("notes")
    return [each for each in notes if isinstance(each, str)] if isinstance(notes, list | tuple) else []


def _rows(resource_map: ResourceMap) -> list[list[object]]:
    """Return [ID, depth, title, type, fragment, summary] for each node, parents first."""
    rows: list[list[object]] = []
    pending: list[tuple[Node, int]] = [(node, 0) for node in reversed(resource_map.nodes)]
    while pending:
        node, depth = pending.pop()
        fragment = ""
        if not isinstance(node.location, Virtual):
            fragment = fragment_of(node.location)
        rows.append([node.id, depth, node.title, node.type, fragment, node.summary or ""])
        pending.extend((child, depth + 1) for child in reversed(node.children))
    return rows


def _runs(sizes: Sequence[PageSize]) -> list[list[float]]:
    """Return the sizes as [width, height, number of consecutive pages]."""
    runs: list[list[float]] = []
    for each in sizes:
        size = [round(each.width, 1), round(each.height, 1)]
        if runs and runs[-1][:2] == size:
            runs[-1][2] += 1
        else:
            runs.append([*size, 1])
    return runs
