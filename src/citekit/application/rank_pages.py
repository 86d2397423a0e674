"""Finds the pages that most likely answer a question, in one document, several, or everything that is mapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nlargest
from pathlib import Path, PurePath

from attrs import define, evolve, field, frozen

from citekit.application.index_ranking import IndexRanking, ReadyDocument
from citekit.domain.errors import (
    Cancelled,
    CiteKitError,
    LocationOutside,
    RequestRefused,
    ResourceMissing,
    in_a_note,
)
from citekit.domain.library.vectors import Vector
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.ranking_index import DocumentFacts
from citekit.domain.ports.reranker import PageCandidate, Reranker
from citekit.domain.progress import Progress, silent
from citekit.domain.ranking.best_lines import best_lines
from citekit.domain.ranking.documents import CANDIDATES, asked_names, document_priors
from citekit.domain.ranking.features import FirstStage, first_stage, page_words, second_stage
from citekit.domain.ranking.named_places import pages_printed
from citekit.domain.ranking.question import ParsedQuestion, parse_question
from citekit.domain.ranking.ranked import RankedPage, RankedPages
from citekit.domain.ranking.specifics import MISSING, missing_share
from citekit.domain.ranking.weights import DOCUMENTS, FIRST_STAGE, PAGES, PAGES_WITHOUT_VECTORS, score_of, weighted_of
from citekit.domain.text_search.blocks import TextBlock

READ = 24
"""The number of pages whose texts are read, unless twice the number of requested hits is larger."""

RERANKED = 20
"""The maximum number of pages that the reranker sees."""

RERANKER = 0.7
"""The weight of the reranker's log odds relative to the log odds of the features. It is estimated, not measured."""

LONGEST = 10_000
"""The maximum length of a question in characters."""


@define
class _Documents:
    """The documents whose pages are ranked, and the reasons why others are not."""

    ready: dict[str, ReadyDocument] = field(factory=dict)
    skipped: dict[str, str] = field(factory=dict)


@frozen
class _Candidate:
    """A page, identified by its resource and its index, with its score so far."""

    score: float
    resource_id: str
    page: int


@frozen
class _ReadPage:
    """A page whose text was read.

    `own` is the weighted sum of its features, `prior` the value that its document adds, and `coverage` the share of the
    question's words that it contains.
    """

    own: float
    prior: float
    candidate: _Candidate
    block: TextBlock
    coverage: float

    @property
    def total(self) -> float:
        """The value by which the page is ranked."""
        return self.own + self.prior


@frozen
class _Searched:
    """The resources of a search: those that are missing in the index, and the number of pages of each of the others.

    `maps` has the versions of the maps if all are searched, and `state` is their state. `form` and `documents` are from
    the index. The rest is valid for these only.
    """

    names: Sequence[str] = field(converter=tuple[str, ...])
    maps: Mapping[str, str]
    state: str | None
    form: str
    documents: Mapping[str, DocumentFacts]
    sizes: Mapping[str, int] = field(init=False)
    missing: Sequence[str] = field(init=False)

    @sizes.default
    def _sizes(self) -> Mapping[str, int]:
        known = ((name, self.documents.get(name)) for name in self.names)
        return {name: each.pages for name, each in known if each is not None and each.version.endswith(self.form)}

    @missing.default
    def _missing(self) -> Sequence[str]:
        return [name for name in self.names if name not in self.sizes]

    def is_of(self, state: str, form: str, documents: Mapping[str, DocumentFacts]) -> bool:
        """Return whether the maps and the index are still the same."""
        return (state, form) == (self.state, self.form) and documents is self.documents


@define
class RankPages:
    """Ranks the pages of documents. Documents that are not indexed for ranking yet are indexed first."""

    maps: MapStore
    index: IndexRanking
    reranker: Reranker | None = None
    _everything: _Searched | None = field(default=None, init=False)

    def __call__(
        self,
        question: str,
        resources: Sequence[str] = (),
        *,
        limit: int = 10,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> RankedPages:
        """Return the `limit` pages of `resources` (default: all) that most likely answer the question, best first.

        Raise `RequestRefused` for a question that has no letters or digits or is too long, `ResourceMissing` if one of
        `resources` has no map, and the errors of the reranker and the embedder. If only one resource is searched, also
        raise the errors of reading its text.
        """
        if len(question) > LONGEST:
            raise RequestRefused(f"The question has {len(question):,} characters. The maximum is {LONGEST:,}.")
        asked = parse_question(question)
        if not asked.stems:
            raise RequestRefused("The question has no letters or digits. Enter some words.")
        searched, documents = self._searched(resources), _Documents()
        if searched.missing:
            self._index_missing(searched, documents, roots, progress, are_named=bool(resources))
            searched = self._searched(resources)
        priors = self._priors(asked, searched, documents.skipped)
        texts = self.index.texts.versions(list(priors))
        for name in priors:
            self._add(name, searched, texts, documents, roots, progress)
        pages = self._ranked(asked, documents.ready, priors, limit, progress)
        return RankedPages(
            pages=pages,
            searched=len(searched.names) - len(documents.skipped),
            stale={
                name: each.stale for name, each in documents.ready.items() if each.stale is not None and name in priors
            },
            skipped=documents.skipped,
        )

    def _searched(self, resources: Sequence[str]) -> _Searched:
        """Return what is searched. For all resources, it is determined again only after a change."""
        documents, form = self.index.ranking.documents(), self.index.form
        if resources:
            return _Searched(dict.fromkeys(resources), {}, None, form, documents)
        state, known = self.maps.state(), self._everything
        if known is not None and state is not None and known.is_of(state, form, documents):
            return known
        self._everything = searched = _Searched(self.maps.ids(), self.maps.versions(), state, form, documents)
        return searched

    def _index_missing(
        self, searched: _Searched, documents: _Documents, roots: Sequence[Path], progress: Progress, *, are_named: bool
    ) -> None:
        texts = self.index.texts.versions(searched.missing)
        for number, name in enumerate(searched.missing):
            progress(number, len(searched.missing), "indexing")
            try:
                self._add(name, searched, texts, documents, roots, progress, is_alone=len(searched.names) == 1)
            except ResourceMissing:
                if are_named:
                    raise
            documents.ready.pop(name, None)  # thousands would not fit into memory

    def _add(
        self,
        name: str,
        searched: _Searched,
        texts: Mapping[str, str],
        documents: _Documents,
        roots: Sequence[Path],
        progress: Progress,
        *,
        is_alone: bool = False,
    ) -> None:
        """Add a document that is ready for ranking, or the reason why it is not. `texts` has the versions of the indexed
        texts.
        """
        try:
            resource_map = self.maps.get(name, searched.maps.get(name))
            documents.ready[name] = self.index(resource_map, texts.get(name), roots, progress)
        except (Cancelled, ResourceMissing):
            raise
        except CiteKitError as error:
            if is_alone:
                raise
            documents.skipped[name] = in_a_note(error)

    def _priors(self, asked: ParsedQuestion, searched: _Searched, skipped: Mapping[str, str]) -> dict[str, float]:
        """Return the documents whose pages are ranked, best first, each with the value to add to its pages' scores."""
        names = [name for name in searched.names if name not in skipped] if skipped else searched.names
        if len(names) == 1:
            return {names[0]: 0.0}
        terms = dict.fromkeys((*asked.stems, *(term for terms in asked_names(asked) for term in terms)))
        matches = self.index.ranking.find(list(terms))
        found = document_priors(asked, matches, searched.sizes, DOCUMENTS)
        if len(names) <= CANDIDATES:
            found = {**dict.fromkeys(names, 0.0), **found}
        # sorting all documents by two keys takes longer than finding the least prior that counts
        least = min(nlargest(CANDIDATES, found.values()), default=0.0)
        best = [(name, prior) for name, prior in found.items() if prior >= least]
        return dict(sorted(best, key=lambda each: (-each[1], each[0]))[:CANDIDATES])

    def _ranked(
        self,
        asked: ParsedQuestion,
        documents: Mapping[str, ReadyDocument],
        priors: Mapping[str, float],
        limit: int,
        progress: Progress,
    ) -> list[RankedPage]:
        embedder = self.index.embedder
        vector = embedder.query(asked.meaning or asked.text) if embedder is not None else None
        stages: dict[str, FirstStage] = {}
        found: list[_Candidate] = []
        for name in priors:
            if name in documents:
                stages[name] = stage = self._first_stage(asked, documents[name], vector)
                scores = enumerate(stage.scores(FIRST_STAGE))
                found += [_Candidate(score + priors[name], name, page) for page, score in scores]
        found.sort(key=lambda each: (-each.score, each.resource_id, each.page))
        weights = PAGES if vector is not None else PAGES_WITHOUT_VECTORS
        found = found[: max(READ, 2 * limit)]
        blocks = self._blocks(found, documents)
        ranked: list[_ReadPage] = []
        for each in found:
            block = blocks.get((each.resource_id, each.page))
            if block is None:
                continue
            features = second_stage(stages[each.resource_id], each.page, block.text)
            ranked.append(_ReadPage(features.dot(weights), priors[each.resource_id], each, block, features.coverage))
        ranked = self._reranked(asked, ranked, progress)
        pages = []
        for read in ranked:
            each, block = read.candidate, read.block
            (start, end), further = best_lines(block.text, stages[each.resource_id].rarities)
            try:
                limits = documents[each.resource_id].resource_map.extent
                location = block.located.locate(start, end).clamp(limits)
                extent = block.located.locate(0, len(block.text)).clamp(limits)
            except LocationOutside:
                continue
            pages.append(
                RankedPage(
                    resource_id=each.resource_id,
                    score=score_of(
                        read.own - MISSING * _missing(stages[each.resource_id], documents[each.resource_id], block)
                    ),
                    coverage=read.coverage,
                    block=block,
                    start=start,
                    end=end,
                    location=location,
                    extent=extent,
                    further=further,
                )
            )
            if len(pages) == limit:
                break
        return pages

    def _blocks(
        self, candidates: Sequence[_Candidate], documents: Mapping[str, ReadyDocument]
    ) -> dict[tuple[str, int], TextBlock]:
        """Return the text of the candidates by resource ID and page. Those without a text are left out."""
        numbers: dict[str, list[int]] = {}
        for each in candidates:
            numbers.setdefault(each.resource_id, []).append(each.page)
        read = (
            (name, self.index.texts.blocks(name, documents[name].text_version, own)) for name, own in numbers.items()
        )
        return {(name, page): block for name, own in read for page, block in own.items()}

    def _first_stage(self, asked: ParsedQuestion, ready: ReadyDocument, vector: Vector | None) -> FirstStage:
        similarities = ready.document.similarities(vector) if vector is not None else None
        return first_stage(asked, ready.document.index, similarities, self._named_pages(asked, ready))

    def _named_pages(self, asked: ParsedQuestion, ready: ReadyDocument) -> frozenset[int]:
        """Return the indexes of the pages that the question names by printed page numbers, or by lines or times.

        A line of a labeled part, as in "line 5 of sonnet 18", is not a line of the file.
        """
        index, places = ready.document.index, asked.places
        if any(index.numbers):
            rules = ready.resource_map.metadata.get("page_labels")
            printed = pages_printed(places.printed, rules, max(index.numbers))
            return frozenset(at for at, number in enumerate(index.numbers) if number in printed)
        if not places.times and (not places.lines or asked.labels):
            return frozenset()
        blocks = self.index.texts.blocks(ready.resource_map.resource_id, ready.text_version, range(len(index)))
        extents = {at: block.located.locate(0, len(block.text)) for at, block in blocks.items()}
        return frozenset(at for at, extent in extents.items() if places.include(extent))

    def _reranked(self, asked: ParsedQuestion, pages: Sequence[_ReadPage], progress: Progress) -> list[_ReadPage]:
        """Return the pages, best first, by their features and by the reranker, which sees the best `RERANKED` of them."""
        best = sorted(pages, key=lambda each: each.total, reverse=True)
        first, rest = best[:RERANKED], best[RERANKED:]
        if self.reranker is None or not first:
            return best
        candidates = [PageCandidate(each.block.text, score_of(each.own)) for each in first]
        scores = self.reranker.scores(asked.text, candidates, progress)
        changed = [
            evolve(page, own=page.own + RERANKER * (weighted_of(score) - weighted_of(candidate.score)))
            for page, candidate, score in zip(first, candidates, scores, strict=True)
        ]
        return sorted([*changed, *rest], key=lambda each: each.total, reverse=True)


def _missing(stage: FirstStage, ready: ReadyDocument, block: TextBlock) -> float:
    """Return the fraction of the names and years of the question that neither the block nor the document's names have;
    see `missing_share`.
    """
    specifics = stage.question.specifics
    if not specifics:
        return 0.0
    names = (ready.resource_map.title, PurePath(ready.resource_map.source_path).stem)
    return missing_share(specifics, frozenset(page_words(block.text).stems), names, stage.rarities)
