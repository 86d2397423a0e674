"""Defines the SDK for Python programs.

Modules that only some methods need are imported by these methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from citekit.container import Container, bootstrap
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import RequestRefused
from citekit.domain.evidence import Evidence, Form, Options, Receipt
from citekit.domain.modality import Modality
from citekit.domain.node import NodeName
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.limits import PASSAGES
from citekit.entrypoints.notebook_methods import show_in_notebooks
from citekit.wire.locations import modality_of

if TYPE_CHECKING:
    from citekit.application.ingest_many import Outcome
    from citekit.application.search import Hit
    from citekit.application.validate_map import MapReport
    from citekit.application.verify import Verdict
    from citekit.container.ports import Ports
    from citekit.domain.answering import CheckedAnswer
    from citekit.domain.exchange import Context
    from citekit.domain.node import Node
    from citekit.domain.quotes.verdict import QuoteLookup, QuoteVerdict
    from citekit.domain.text_search.found import FoundText
    from citekit.domain.text_search.read import ReadTextAnswer
    from citekit.entrypoints.sdk_library import Library

show_in_notebooks(Evidence, "evidence_html")
show_in_notebooks(ResourceMap, "map_html")


def read_modality(word: str) -> Modality:
    """Return the modality for `document` (or `pdf`), `video`, `audio`, `image`, `text`, or `virtual`.

    Raise `RequestRefused` for any other word.
    """
    found = modality_of(word)
    if found is None:
        raise RequestRefused(f"{word!r} is not a kind of resource. Use one of: {', '.join(Modality)}.")
    return found


def read_form(word: str) -> Form:
    """Return the form for `native`, `pdf`, `png`, `text`, `html`, `frame`, `source`, `table`, `vtt`, or `srt`.

    Raise `RequestRefused` for any other word.
    """
    found = next((form for form in Form if form.value == word), None)
    if found is None:
        raise RequestRefused(f"{word!r} is not a form of evidence. Use one of: {', '.join(Form)}.")
    return found


class CiteKit:
    """The main class of the SDK: maps files, reads maps, and creates and verifies evidence. Thread-safe.

    `home` is the folder for maps, evidence, and cache (default: `CITEKIT_HOME`, or the current folder). `ports`
    replaces adapters by name; see `bootstrap`. CiteKit's own errors are subclasses of `CiteKitError`.
    """

    def __init__(self, home: str | Path | None = None, **ports: Unpack[Ports]) -> None:
        self.app: Container = bootstrap(home=home, **ports)

    def ingest(
        self,
        path: str | Path,
        *,
        resource_id: str | None = None,
        type: str | None = None,
        force: bool = False,
        progress: Progress = silent,
    ) -> ResourceMap:
        """Map a file, index its text, and return the map. If an up-to-date map exists, only return it, unless `force`
        is True.

        If `type` is not None, files of other kinds are rejected. Raise `SourceUnreadable`, `SourceUnsupported`,
        `RequestRefused` if `type` is unknown or another file has the `resource_id`, or another `CiteKitError`.
        """
        modality = None if type is None else read_modality(type)
        done = self.app.ingest_for_search(
            Path(path), wanted_id=resource_id, modality=modality, force=force, progress=progress
        )
        return done.resource_map

    def ingest_all(self, paths: Iterable[str | Path], *, force: bool = False) -> Iterator[Outcome]:
        """Map files and folders in parallel, and yield the outcome of each file (a map or an error) as it finishes."""
        from citekit.application.ingest_many import files_below

        settings = self.app.settings
        own = (settings.maps_folder, settings.output_folder, settings.cache_folder)
        files = files_below([Path(path) for path in paths], own, is_mappable=self.app.is_mappable)
        return self.app.ingest_many(files, force=force, concurrency=self.app.files_at_once)

    def resources(self) -> Sequence[str]:
        """Return the IDs of all mapped resources, sorted."""
        return self.app.maps.ids()

    def map(self, resource_id: str, *, include_chunks: bool = False) -> ResourceMap:
        """Return the map of a resource, without the library's chunks unless `include_chunks` is true.

        Raise `ResourceMissing` if there is none, or `MapCorrupt` if it is damaged.
        """
        stored = self.app.maps.get(resource_id)
        return stored if include_chunks else stored.outline

    def node(self, resource_id: str, node_id: str) -> Node:
        """Return a node of a map. Raise `NodeMissing` if the map does not have it, and the errors of `map`."""
        return self.app.maps.get(resource_id).find(node_id)

    def address(self, resource_id: str, node_id: str) -> Address:
        """Return the address of a node. Raise the errors of `node`."""
        return Address(resource_id, self.node(resource_id, node_id).location)

    def resolve(
        self,
        what: str | Address,
        node_id: str | None = None,
        *,
        virtual: bool = False,
        form: Form | str = Form.NATIVE,
        accurate: bool = False,
        remap: bool = False,
        roots: Sequence[str | Path] = (),
        progress: Progress = silent,
    ) -> Evidence:
        """Return the evidence for an address, or for the node `node_id` of the resource `what`.

        If `virtual` is True, only the address is determined and no file is created. `form` is `native`, `pdf`, `png`,
        `text`, `html`, `frame`, `source`, `table`, `vtt`, or `srt`. If `accurate` is True, a clip is cut at exact
        frames. If `remap` is True, a changed source is mapped again. Moved sources are searched for in `roots`. Raise
        `ResourceMissing`, `NodeMissing`, `AddressMalformed`, `LocationOutside`, `SourceChanged`, `SourceMoved`,
        `FormUnsupported`, or another `CiteKitError`.
        """
        if node_id is not None:
            wanted: NodeName | Address = NodeName(str(what), node_id)
        else:
            wanted = what if isinstance(what, Address) else parse_address(what)
        return self.app.resolve(
            wanted,
            virtual=virtual,
            options=Options(read_form(form), accurate),
            remap=remap,
            roots=[Path(root) for root in roots],
            progress=progress,
        )

    def library(self, collection: str | None = None) -> Library:
        """Return the library of this home, with the default collection if `collection` is None. Requires the extra
        `library`.
        """
        from citekit.entrypoints.sdk_library import Library

        return Library(self.app.alexandria, collection)

    def search(self, words: str, *, limit: int = 20) -> list[Hit]:
        """Return up to `limit` nodes whose titles and summaries best match the words, best first."""
        return self.app.search(words, limit=limit)

    def find_text(
        self,
        query: str,
        *resources: str,
        regex: bool = False,
        limit: int | None = None,
        context_lines: int = 0,
        roots: Sequence[str | Path] = (),
        progress: Progress = silent,
    ) -> FoundText:
        """Return the lines in the text of `resources` (default: all) that match the words and quoted phrases of
        `query`.

        If `regex` is True, the query is a regular expression that matches inside one line. If `limit` is None, there
        are at most 10 hits, or 5 if no page has all words. Raise `RequestRefused` if the query, `limit`, or
        `context_lines` is invalid, or `ResourceMissing` if a resource does not exist. If only one resource is searched,
        also raise the errors of reading its text.
        """
        found = self.app.find_text(
            query,
            resources,
            regex=regex,
            limit=limit,
            context_lines=context_lines,
            roots=[Path(root) for root in roots],
            progress=progress,
        )
        show_in_notebooks(type(found), "hits_html")
        return found

    def ask(
        self,
        question: str,
        *resources: str,
        service: str = "auto",
        pages: int = PASSAGES,
        roots: Sequence[str | Path] = (),
        progress: Progress = silent,
    ) -> CheckedAnswer:
        """Let a model answer a question from pages of `resources` (default: all), and verify its quotes.

        The model gets the best pages, at most `pages`.

        `service` is `gemini`, `openai` (or a compatible server), `auto` for the configured service, or `none`. Without
        a service, only the pages are returned. Raise `RequestRefused` if the question has no words or is too long,
        `ResourceMissing` if a resource does not exist, `MapperUnavailable` if the service fails, or `FaultyAnswer` if
        its answer is unreadable. If only one resource is searched, also raise the errors of reading its text.
        """
        return self.app.answer_question(
            question,
            resources,
            model=self.app.answer_model(service),
            limit=pages,
            roots=[Path(root) for root in roots],
            progress=progress,
        )

    def read_text(
        self,
        what: str | Address,
        node_id: str | None = None,
        *,
        max_chars: int = 6_000,
        cursor: str | None = None,
        roots: Sequence[str | Path] = (),
        progress: Progress = silent,
    ) -> ReadTextAnswer:
        """Return the text of an address, of the node `node_id` of the resource `what`, or of the whole resource.

        It has at most `max_chars` characters (200 to 50,000); to continue, pass `next_cursor` of the answer as
        `cursor`. Raise `RequestRefused` if `max_chars` or `cursor` is invalid or the part is virtual,
        `ResourceMissing`, `NodeMissing`, `AddressMalformed`, or `LocationOutside` if there is no such part, and the
        errors of reading the text.
        """
        return self.app.read_text(
            str(what),
            node_id,
            max_chars=max_chars,
            cursor=cursor,
            roots=[Path(root) for root in roots],
            progress=progress,
        )

    def adapt(
        self,
        data: str | Path,
        adapter: str,
        *,
        resource_id: str | None = None,
        source: str | Path | None = None,
        force: bool = False,
    ) -> ResourceMap:
        """Turn the structure that another program produced into a map, store the map, and return it.

        `adapter` is `graphrag`, `llamaindex`, `generic`, or the path of a .py file. `source` is the file that the
        structure describes. If `force` is True, an existing map with the same ID is replaced. Raise `FaultyAnswer` if
        the map is not valid, `RequestRefused` if another map has the `resource_id`, or another `CiteKitError`.
        """
        origin = None if source is None else Path(source)
        chosen = self.app.adapter_called(adapter)
        return self.app.adapt(Path(data), chosen, wanted_id=resource_id, source=origin, force=force).resource_map

    def context(self, *resources: str, format: str = "markdown", budget: int | None = None) -> str:
        """Return an outline of the resources (default: all) for a model. `format` is `markdown` or `json`.

        It has at most `budget` tokens, estimated as 4 characters each. Raise `ResourceMissing` or `MapCorrupt` for a
        given resource without a map or with a damaged one, or `RequestRefused` for another format, or for a budget that
        is too small for the titles.
        """
        return self.app.context(resources, format=format, budget=budget).text

    def verify(
        self, what: str | Path | Receipt, *, receipt: Receipt | None = None, roots: Sequence[str | Path] = ()
    ) -> Verdict:
        """Check whether evidence is genuine. The `ruling` of the verdict is its most important reason.

        `what` is a receipt, for which the best ruling is `RECEIPT_ONLY`, or the path of a file, which is treated as
        evidence. With `receipt`, check whether it describes the file. Moved sources are searched for in `roots`. Raise
        `ReceiptMissing` if no receipt is known for the file, or `SourceUnreadable` if it cannot be read.
        """
        folders = [Path(root) for root in roots]
        if isinstance(what, Receipt):
            return self.app.verify.receipt(what, folders)
        return self.app.verify.file(Path(what), folders, receipt=receipt)

    def check_map(self, resource_id: str) -> MapReport:
        """Validate the map of a resource for consistency and against its file. Raise the errors of `map`."""
        return self.app.check_map(self.map(resource_id))

    def verify_quote(
        self, what: str | Address, text: str, node_id: str | None = None, *, roots: Sequence[str | Path] = ()
    ) -> QuoteVerdict:
        """Check whether the quote `text` occurs in a part of a resource; see `QuoteVerdict`.

        `what` is an address, or a resource (its ID, or `doc://book`), which is searched completely or only in
        `node_id`. Moved sources are searched for in `roots`. Raise `RequestRefused` if the text has no words, is too
        long, or occurs too often, or if the part is virtual, or another `CiteKitError`.
        """
        wanted: NodeName | Address | str = what
        if node_id is not None:
            wanted = NodeName(str(what), node_id)
        elif isinstance(what, str) and "://" in what:
            from citekit.application.verify_quote import resource_named

            wanted = resource_named(what, self.app.maps)
        verdict = self.app.verify_quote(wanted, text, roots=[Path(root) for root in roots])
        show_in_notebooks(type(verdict), "verdict_html")
        return verdict

    def look_up_quote(self, text: str, *, roots: Sequence[str | Path] = ()) -> QuoteLookup:
        """Look for `text` in everything that is mapped, and verify it in the best files, at most five.

        Raise `RequestRefused` if the text has no words or is too long.
        """
        return self.app.look_up_quote(text, roots=[Path(root) for root in roots])

    def to_web_annotation(
        self, what: str | Address, node_id: str | None = None, *, context: Context | None = None
    ) -> dict[str, object]:
        """Return an address, or the node `node_id` of the resource `what`, as the target of a W3C Web Annotation.

        The target is a `SpecificResource` as plain data, with a source such as `doc://book`. `context` is data about
        the file that some selectors require (default: from the map). Raise `FormUnsupported` if no selector can express
        the location, such as cells.
        """
        from citekit.domain.exchange import to_web_annotation

        if node_id is not None:
            address = self.address(str(what), node_id)
        else:
            address = what if isinstance(what, Address) else parse_address(what)
        known = context or self._context(self.map(address.resource_id))
        return to_web_annotation(address.location, str(address).partition("#")[0], known)

    def from_web_annotation(
        self, resource_id: str, annotation: Mapping[str, object] | str, *, context: Context | None = None
    ) -> Address:
        """Return the address of the part of a resource that a W3C Web Annotation refers to.

        `annotation` is an annotation, its target, a selector, or a URI with a standard fragment (Media Fragments, PDF
        open parameters, RFC 5147, EPUB CFI). `context` is as in `to_web_annotation`. Raise `AddressMalformed` if the
        annotation cannot be converted.
        """
        from citekit.domain.exchange import from_web_annotation

        resource_map = self.map(resource_id)
        known = context or self._context(resource_map)
        return Address(resource_id, from_web_annotation(annotation, resource_map.modality, known))

    @staticmethod
    def _context(resource_map: ResourceMap) -> Context:
        from citekit.domain.exchange import Context

        return Context(dimensions=resource_map.extent.size)

    def export(self, resource_id: str, form: str = "markdown", *, roots: Sequence[str | Path] = ()) -> str:
        """Return a resource as `markdown`, `json`, `html`, `bibtex`, `csl`, or `w3c-annotations`.

        Raise `RequestRefused` for any other `form`, the errors of `map`, and, for `markdown` and `html`, those of
        reading the text.
        """
        from citekit.entrypoints.export import ExportForm, export

        if form not in set(ExportForm):
            raise RequestRefused(f"{form!r} is not an export format. Use one of: {', '.join(ExportForm)}.")
        return export(self.app, resource_id, ExportForm(form), roots=[Path(root) for root in roots])

    def tag(self, *resources: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Mapping[str, Sequence[str]]:
        """Add the tags `add` to each resource, remove the tags `remove`, and return the tags of each by its ID.

        Raise `ResourceMissing` if a resource has no map, or `RequestRefused` if a tag is invalid or a resource has too
        many.
        """
        return self.app.tag(resources, add, remove)

    def tags(self) -> Mapping[str, Sequence[str]]:
        """Return the IDs of the resources with each tag, by tag."""
        return self.app.tag.tags()

    def remove(self, resource_id: str) -> None:
        """Delete a map, its tags, and its text in the index. Raise `ResourceMissing` if there is none.

        Evidence stays in the cache until it is pruned or cleared.
        """
        self.app.remove(resource_id)
