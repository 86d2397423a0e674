"""Creates the use cases that read parts of files, find words in them, and verify quotes and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.container.cached_property import first_use
from citekit.container.lazy_proxy import lazy
from citekit.container.mapping import MapMaking

if TYPE_CHECKING:
    from citekit.application.agent_context import ReadContext
    from citekit.application.answer_question import AnswerQuestion
    from citekit.application.evidence_content import EvidenceContent
    from citekit.application.find_text import FindText
    from citekit.application.index_ranking import IndexRanking
    from citekit.application.index_text import IndexText
    from citekit.application.list_resources import ListResources
    from citekit.application.look_up_quote import LookUpQuote
    from citekit.application.rank_pages import RankPages
    from citekit.application.read_text import ReadText
    from citekit.application.resolve import Resolve
    from citekit.application.search import Search
    from citekit.application.show_resource import ShowResource
    from citekit.application.structure import GetStructure
    from citekit.application.validate_map import ValidateMap
    from citekit.application.verify import VerifyEvidence
    from citekit.application.verify_quote import VerifyQuote
    from citekit.domain.ports.answer_model import AnswerModel
    from citekit.domain.ports.reranker import Reranker


class Answers(MapMaking):
    """The use cases that read, find, cite, and verify."""

    __slots__ = ()

    @first_use
    def resolve(self) -> Resolve:
        """The use case that turns a node or an address into evidence."""
        from citekit.application.resolve import Resolve

        ingest = lazy(lambda: self.ingest)  # a mapper is only needed to map a changed source again
        return Resolve(self.maps, self.evidence, self.outputs, self.extractors, self.locate, ingest, self.measure)

    @first_use
    def structure(self) -> GetStructure:
        """The use case that returns a map in answers of bounded size."""
        from citekit.application.structure import GetStructure

        return GetStructure(self.maps)

    @first_use
    def context(self) -> ReadContext:
        """The use case that renders the outline of maps as text for a language model."""
        from citekit.application.agent_context import ReadContext

        return ReadContext(self.maps)

    @first_use
    def list_resources(self) -> ListResources:
        """The use case that lists the mapped files with their titles, sizes, and paths."""
        from citekit.application.list_resources import ListResources

        return ListResources(self.maps, tags=self.tag_store.all)

    @first_use
    def search(self) -> Search:
        """The use case that finds nodes by words in their titles and summaries."""
        from citekit.application.search import Search

        return Search(self.maps, self.nodes)

    @first_use
    def check_map(self) -> ValidateMap:
        """The use case that validates a map against its source file."""
        from citekit.application.validate_map import ValidateMap

        return ValidateMap(self.locate, self.measure)

    @first_use
    def verify(self) -> VerifyEvidence:
        """The use case that verifies evidence against its receipt and its source."""
        from citekit.application.verify import VerifyEvidence

        return VerifyEvidence(self.sources, self.outputs, self.resolve)

    @first_use
    def evidence_content(self) -> EvidenceContent:
        """The use case that reads the content of evidence."""
        from citekit.application.evidence_content import EvidenceContent

        return EvidenceContent(
            self.evidence, self.outputs, lambda path, side: self.mappers.viewer.picture(path, side), self.folders
        )

    @first_use
    def verify_quote(self) -> VerifyQuote:
        """The use case that checks whether a quote occurs where it is claimed to be."""
        from citekit.application.verify_quote import VerifyQuote

        return VerifyQuote(self.maps, self.resolve, self.locate, self.quotable)

    @first_use
    def look_up_quote(self) -> LookUpQuote:
        """The use case that looks up which mapped file a quote is from."""
        from citekit.application.look_up_quote import LookUpQuote

        return LookUpQuote(self.find_text, self.verify_quote)

    @first_use
    def find_text(self) -> FindText:
        """The use case that finds words in the text of mapped files."""
        from citekit.application.find_text import FindText
        from citekit.application.indexed_library import IndexedLibrary

        library = IndexedLibrary(self.maps, self._index_text, self.text_index, self.quotable)
        return FindText(self.maps, self._index_text, self.text_index, library, self.rank_pages, self.nodes)

    @first_use
    def read_text(self) -> ReadText:
        """The use case that reads the text of a part of a mapped file."""
        from citekit.application.read_text import ReadText

        return ReadText(
            self.maps,
            self.resolve,
            self.quotable,
            self._index_text,
            self.text_index,
            lambda: self.parsers.scan_advice(),
        )

    @first_use
    def rank_pages(self) -> RankPages:
        """The use case that finds the pages that most likely answer a question."""
        from citekit.application.rank_pages import RankPages

        return RankPages(self.maps, self._index_ranking, self.reranker)

    @first_use
    def reranker(self) -> Reranker:
        """The reranker of pages. Raises the errors of `reranker_called`."""
        from citekit.container.rerankers import reranker_called

        return self._given.get("reranker") or reranker_called(self.settings, self.mappers)

    @first_use
    def _index_ranking(self) -> IndexRanking:
        from citekit.application.index_ranking import IndexRanking

        return IndexRanking(self._index_text, self.text_index, self.ranking_index, self._ranking_embedder())

    @first_use
    def _index_text(self) -> IndexText:
        from citekit.application.index_text import IndexText

        return IndexText(self.locate, self.quotable, self.text_index)

    @first_use
    def answer_question(self) -> AnswerQuestion:
        """The use case that answers a question with a model and verifies the quotes of the answer."""
        from citekit.application.answer_question import AnswerQuestion

        return AnswerQuestion(self.rank_pages, self.verify_quote)

    def answer_model(self, service: str = "auto") -> AnswerModel | None:
        """See `Mappers.answer_model`."""
        return self.mappers.answer_model(service)

    @first_use
    def show(self) -> ShowResource:
        """The use case that shows mapped files in a viewer."""
        from citekit.application.show_resource import ShowResource

        return ShowResource(self.maps, self.locate, self.quotable, self.page_views, self.reader)
