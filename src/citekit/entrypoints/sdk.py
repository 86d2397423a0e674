"""The SDK: CiteKit and its library for Python programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from citekit.application.ingest_many import Outcome, files_below
from citekit.application.library.ask import Answers, AskRequest, ContextMode
from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.application.library.narrow_books import Narrowing
from citekit.application.library.remove_book import BookName, Removed
from citekit.application.search import Hit
from citekit.application.validate_map import MapReport
from citekit.application.verify import Verdict
from citekit.application.verify_quote import resource_named
from citekit.container import Container, bootstrap
from citekit.container.library import Alexandria
from citekit.container.ports import Ports
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import RequestRefused
from citekit.domain.evidence import Evidence, Form, Options, Receipt
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.modality import Modality
from citekit.domain.node import Node, NodeName
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.verdict import QuoteLookup, QuoteVerdict
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.found import FoundText
from citekit.domain.text_search.read import ReadTextAnswer
from citekit.wire.locations import modality_of

if TYPE_CHECKING:
    from citekit.domain.exchange import Context


class Library:
    """Ingests, queries, and removes books. Needs the extra `library`. Thread-safe.

    `collection` defaults to `QDRANT_COLLECTION`, or alexandria. The use cases are available as `alexandria`.
    """

    def __init__(self, alexandria: Alexandria, collection: str | None = None) -> None:
        self.alexandria = alexandria
        self.collection = collection or alexandria.chosen.collection

    def ingest(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        author: str | None = None,
        language: str | None = None,
        params: ChunkingParams | None = None,
        hierarchical: bool = True,
        force: bool = False,
        progress: Progress = silent,
    ) -> BookIngested:
        """Ingest a file. Raises `AlreadyIngested`, `MetadataMissing`, `SourceUnsupported`, and other `CiteKitError`s."""
        request = BookRequest(
            path=Path(path),
            collection=self.collection,
            title=title,
            author=author,
            language=language,
            params=params or ChunkingParams(),
            hierarchical=hierarchical,
            force=force,
        )
        return self.alexandria.ingest_book(request, progress)

    def ask(
        self,
        question: str,
        *,
        limit: int = 5,
        threshold: float = 0.5,
        context: str = "precise",
        narrowing: Narrowing | None = None,
    ) -> Answers:
        """The passages that answer the question, best first. Pass a hit's `chunk.address` to `CiteKit.resolve`.

        `context` is precise, contextual (with chapters), or comprehensive (also with neighboring chunks). Raises
        `CollectionMissing`, `ModelMismatch`, `RequestRefused`, and other `CiteKitError`s.
        """
        if context not in set(ContextMode):
            raise RequestRefused(f"{context!r} is not a context mode. Use one of: {', '.join(ContextMode)}.")
        where = self.alexandria.narrow(narrowing or Narrowing(), self.collection)
        request = AskRequest(
            query=question,
            collection=self.collection,
            limit=limit,
            threshold=threshold,
            mode=ContextMode(context),
            where=where,
        )
        return self.alexandria.ask(request)

    def books(self) -> Sequence[LedgerEntry]:
        """The books in the collection, in the order in which they were ingested."""
        return self.alexandria.ledger.books(self.collection)

    def remove(self, resource_id: str) -> Removed:
        """Remove a book. Its file and its map, without chunks, are kept. Raises `RequestRefused` if it is not there."""
        return self.alexandria.remove_book(BookName(resource_id=resource_id), self.collection)


def read_modality(word: str) -> Modality:
    """The modality for `document` (or `pdf`), `video`, `audio`, `image`, or `text`. Raises `RequestRefused`."""
    found = modality_of(word)
    if found is None:
        raise RequestRefused(f"{word!r} is not a kind of resource. Use one of: {', '.join(Modality)}.")
    return found


def read_form(word: str) -> Form:
    """The form for `native`, `pdf`, `png`, `text`, `html`, `frame`, or `source`. Raises `RequestRefused`."""
    found = next((form for form in Form if form.value == word), None)
    if found is None:
        raise RequestRefused(f"{word!r} is not a form of evidence. Use one of: {', '.join(Form)}.")
    return found


class CiteKit:
    """Maps files, reads maps, and creates and verifies evidence. Thread-safe.

    `home` is the folder for maps, evidence, and cache (default: `CITEKIT_HOME`, or the current folder). `ports`
    replaces adapters by name, see `bootstrap`. All errors are `CiteKitError`s.
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
        """Map a file, or return its current map. `type` rejects other kinds of files; `force` maps again."""
        modality = None if type is None else read_modality(type)
        done = self.app.ingest(Path(path), wanted_id=resource_id, modality=modality, force=force, progress=progress)
        return done.resource_map

    def ingest_all(self, paths: Iterable[str | Path], *, force: bool = False) -> Iterator[Outcome]:
        """Map files and folders in parallel. Yields an outcome for each file when it is finished."""
        settings = self.app.settings
        own = (settings.maps_folder, settings.output_folder, settings.cache_folder)
        files = files_below([Path(path) for path in paths], own, is_known=self.app.is_known_name)
        return self.app.ingest_many(files, force=force, concurrency=self.app.files_at_once)

    def resources(self) -> Sequence[str]:
        """The ids of all mapped resources, sorted."""
        return self.app.maps.ids()

    def map(self, resource_id: str) -> ResourceMap:
        """The map of a resource. Raises `ResourceMissing` and `MapCorrupt`."""
        return self.app.maps.get(resource_id)

    def node(self, resource_id: str, node_id: str) -> Node:
        """A node of a map. Raises `ResourceMissing` and `NodeMissing`."""
        return self.map(resource_id).find(node_id)

    def address(self, resource_id: str, node_id: str) -> Address:
        """The address of a node."""
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
        """The evidence for an address, or for the node `node_id` of the resource `what`.

        `virtual` returns only the address; `form` is native, pdf, png, text, html, frame, or source; `accurate` cuts a
        clip at exact frames; `remap` maps a changed source again; `roots` are folders in which a moved source is
        searched for.
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
        """The library of this home: books that are asked questions. Needs the extra `library`."""
        return Library(self.app.alexandria, collection)

    def search(self, words: str, *, limit: int = 20) -> list[Hit]:
        """The nodes whose titles and summaries contain the words, best first."""
        return self.app.search(words, limit=limit)

    def find_text(
        self,
        query: str,
        *resources: str,
        regex: bool = False,
        limit: int = 10,
        context_lines: int = 0,
        roots: Sequence[str | Path] = (),
        progress: Progress = silent,
    ) -> FoundText:
        """The lines in the text of `resources` (default: all) that contain the words and quoted phrases of `query`.

        Headings and captions come first. With `regex`, the query is a regular expression that matches inside one line.
        Raises `RequestRefused`, `ResourceMissing`, and, for a single resource, what reading its text raises.
        """
        return self.app.find_text(
            query,
            resources,
            regex=regex,
            limit=limit,
            context_lines=context_lines,
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
        """The text of an address, of the node `node_id` of the resource `what`, or of the whole resource.

        At most `max_chars` characters; pass `next_cursor` of the answer as `cursor` to continue. Raises
        `ResourceMissing`, `NodeMissing`, `AddressMalformed`, `LocationOutside`, `RequestRefused`, and what reading the
        text raises.
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
        """Import the structure that another program produced, and store the map.

        `adapter` is graphrag, llamaindex, generic, or the path of a .py file.
        """
        origin = None if source is None else Path(source)
        chosen = self.app.adapter_called(adapter)
        return self.app.adapt(Path(data), chosen, wanted_id=resource_id, source=origin, force=force).resource_map

    def context(self, *resources: str, format: str = "markdown", budget: int | None = None) -> str:
        """The outline of the resources (default: all) for a model, in at most `budget` tokens (about 4 characters
        each).
        """
        return self.app.context(resources, format=format, budget=budget).text

    def verify(
        self, what: str | Path | Receipt, *, receipt: Receipt | None = None, roots: Sequence[str | Path] = ()
    ) -> Verdict:
        """Check whether evidence is genuine; `ruling` is the reason.

        With `receipt`, checks whether the file is the one in the receipt. `roots` are folders in which a moved source
        is searched for. A receipt alone is at best `RECEIPT_ONLY`, because no file was checked. A path is always
        treated as a file of evidence, not as a receipt. Raises `ReceiptMissing` and `SourceUnreadable`.
        """
        folders = [Path(root) for root in roots]
        if isinstance(what, Receipt):
            return self.app.verify.receipt(what, folders)
        return self.app.verify.file(Path(what), folders, receipt=receipt)

    def check_map(self, resource_id: str) -> MapReport:
        """Validate a map against itself and its file. Raises `ResourceMissing` and `MapCorrupt`."""
        return self.app.check_map(self.map(resource_id))

    def verify_quote(
        self, what: str | Address, text: str, node_id: str | None = None, *, roots: Sequence[str | Path] = ()
    ) -> QuoteVerdict:
        """Check whether `text` is in a part of the source; see `QuoteVerdict`.

        `what` is an address, or a resource (its id, or `doc://book`), which is searched completely or only in its node
        `node_id`.
        """
        wanted: NodeName | Address | str = what
        if node_id is not None:
            wanted = NodeName(str(what), node_id)
        elif isinstance(what, str) and "://" in what:
            wanted = resource_named(what, self.app.maps)
        return self.app.verify_quote(wanted, text, roots=[Path(root) for root in roots])

    def look_up_quote(self, text: str, *, roots: Sequence[str | Path] = ()) -> QuoteLookup:
        """Look for `text` in everything that is mapped, and verify it in the files that contain its words.

        Raises `RequestRefused` for a text without words or one that is too long.
        """
        return self.app.look_up_quote(text, roots=[Path(root) for root in roots])

    def to_web_annotation(
        self, what: str | Address, node_id: str | None = None, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Return an address, or the node `node_id` of the resource `what`, as the target of a W3C Web Annotation.

        The target is a `SpecificResource` as plain data for JSON. Its source is the URI of the resource, such as
        `doc://book`. `context` is data about the file that some selectors require. Raises `FormUnsupported` for a virtual
        location.
        """
        from citekit.domain.exchange import to_web_annotation

        if node_id is not None:
            address = self.address(str(what), node_id)
        else:
            address = what if isinstance(what, Address) else parse_address(what)
        known = context or self._context(self.map(address.resource_id))
        return to_web_annotation(address.location, str(address).partition("#")[0], known)

    def from_web_annotation(
        self, resource_id: str, annotation: Mapping[str, Any] | str, *, context: Context | None = None
    ) -> Address:
        """Return the address of the part of a resource that a W3C Web Annotation refers to.

        `annotation` is an annotation, its target, a selector, or a URI with a fragment of a standard (Media Fragments, PDF
        open parameters, RFC 5147, EPUB CFI). `context` is data about the file that some selectors require. Raises
        `AddressMalformed`.
        """
        from citekit.domain.exchange import from_web_annotation

        resource_map = self.map(resource_id)
        known = context or self._context(resource_map)
        return Address(resource_id, from_web_annotation(annotation, resource_map.modality, known))

    @staticmethod
    def _context(resource_map: ResourceMap) -> Context:
        from citekit.domain.exchange import Context

        return Context(dimensions=resource_map.extent.size)

    def remove(self, resource_id: str) -> None:
        """Delete a map, and its text in the index. Its evidence stays in the cache until the cache is pruned."""
        self.app.remove(resource_id)
