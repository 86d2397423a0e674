"""Measures how well the pages of a document match a question.

The first stage evaluates all pages with the `DocumentIndex`. The second reads the texts of the best pages, and adds
features that need the text: adjacent words, whole words, and whether the words are in one passage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter, mul

from attrs import field, fields, frozen

from citekit.domain.library.lexical import STEM, stems, tokens
from citekit.domain.ranking.document_index import FIRST, TITLE, DocumentIndex
from citekit.domain.ranking.question import ParsedQuestion
from citekit.domain.ranking.rarity import rarity
from citekit.domain.ranking.references import STATEMENT, Label, is_inside

SATURATION, LENGTH_EFFECT = 2.0, 0.75
"""k1 and b of BM25 (Robertson and Zaragoza, 2009), for pages."""

PAGES_KEPT = 128
"""Maximum number of pages whose words stay in memory."""

NUMERIC_PAGE = 0.5
"""The fraction of numbers at which a page counts as fully numeric."""

STATEMENT_NUMBERS = 0.15
"""Minimum fraction of numbers on a page with a financial statement."""

IMPLIED = 0.5
"""The value of `Features.reference` for a financial statement that the question implies but does not name."""

MOST_PARTS = 150
"""The highest number of a part, such as a psalm, that can end the part before it."""

PASSAGE, STEP = 60, 30
"""The number of stems in a passage, and from the start of one passage to the start of the next."""


@frozen(kw_only=True)
class Features:
    """How well a page matches a question. The values are from 0 to 1, but similarities are from -1 to 1.

    `words` is the BM25 score of the page, and `coverage` the fraction of the question's words that the page contains;
    both weigh each word by its rarity in the document. `similarity` is the cosine of the best passage. `sentence_words`
    and `sentence_similarity` repeat `words` and `similarity` for whole sentences, and are 0 for keywords. `first_lines`
    and `title` are 0 for keywords, and `numeric` is 0 unless the question is about amounts. For a table of contents or
    an index, these three are 0, and `contents` is 1. `reference` is 1 for a page that the question names, also by a
    label, and `IMPLIED` for a page with a financial statement that it implies. `pairs`, `whole_words`, and `passage`
    are from the second stage.
    """

    words: float = 0.0
    coverage: float = 0.0
    similarity: float = 0.0
    sentence_words: float = 0.0
    sentence_similarity: float = 0.0
    first_lines: float = 0.0
    title: float = 0.0
    numeric: float = 0.0
    contents: float = 0.0
    reference: float = 0.0
    pairs: float = 0.0
    whole_words: float = 0.0
    passage: float = 0.0

    def dot(self, other: Features) -> float:
        """Return the sum of the values weighted by those of `other`, for example by the weights `PAGES`."""
        return float(sum(map(mul, _values(self), _values(other))))


_values: Callable[[Features], tuple[float, ...]] = attrgetter(*(each.name for each in fields(Features)))
"""Returns the values of features in order, in less time than `astuple`."""


@frozen(kw_only=True)
class FirstStage:
    """The features that the index provides, as lists with an item for each page.

    `words`, `coverage`, `first_lines`, and `title` are fractions of the question's words. `rarities` has the rarity of
    each stem of the question in the document. `lists` is 1 for a table of contents or an index. `similarities` is None
    without vectors. `referred` has the value of `reference` by page, unless it is 0.
    """

    question: ParsedQuestion
    rarities: Mapping[str, float] = field(repr=False)
    words: Sequence[float] = field(repr=False)
    coverage: Sequence[float] = field(repr=False)
    first_lines: Sequence[float] = field(repr=False)
    title: Sequence[float] = field(repr=False)
    numeric: Sequence[float] = field(repr=False)
    lists: Sequence[int] = field(repr=False)
    similarities: Sequence[float] | None = field(repr=False)
    referred: Mapping[int, float] = field(factory=dict)

    @cached_property
    def pairs(self) -> Sequence[tuple[float, str]]:
        """The weight of each pair of the question, and its stems as in `PageWords.stemmed`."""
        weights = self.rarities.get
        return [
            (max(weights(first, 0.0), weights(second, 0.0)), f" {first} {second} ")
            for first, second in self.question.pairs
        ]

    @cached_property
    def whole_words(self) -> Sequence[tuple[float, str]]:
        """The weight of each word of the question that is longer than a stem, and the word as in `PageWords.words`."""
        return [(self.rarities.get(word[:STEM], 0.0), f" {word} ") for word in self.question.words]

    def features(self, page: int, *, pairs: float = 0.0, whole_words: float = 0.0, passage: float = 0.0) -> Features:
        """Return the features of a page, by its number from 0. Those of the second stage are given."""
        sentence = self.question.sentence
        gate = 0.0 if self.lists[page] else sentence
        similarity = 0.0 if self.similarities is None else self.similarities[page]
        return Features(
            words=self.words[page],
            coverage=self.coverage[page],
            similarity=similarity,
            sentence_words=sentence * self.words[page],
            sentence_similarity=sentence * similarity,
            first_lines=gate * self.first_lines[page],
            title=gate * self.title[page],
            numeric=0.0 if self.lists[page] else self.numeric[page],
            contents=float(self.lists[page]),
            reference=self.referred.get(page, 0.0),
            pairs=pairs,
            whole_words=whole_words,
            passage=passage,
        )

    def scores(self, weights: Features) -> list[float]:
        """Return the weighted sum of the `features` of each page."""
        sentence = self.question.sentence
        own = weights.words + sentence * weights.sentence_words
        near = weights.similarity + sentence * weights.sentence_similarity
        similarities = self.similarities or (0.0,) * len(self.words)
        found = [
            own * words
            + weights.coverage * coverage
            + near * similarity
            + (
                weights.contents
                if is_list
                else sentence * (weights.first_lines * first + weights.title * title) + weights.numeric * numeric
            )
            for words, coverage, similarity, first, title, numeric, is_list in zip(
                self.words,
                self.coverage,
                similarities,
                self.first_lines,
                self.title,
                self.numeric,
                self.lists,
                strict=True,
            )
        ]
        for page, share in self.referred.items():
            found[page] += share * weights.reference
        return found


def first_stage(
    question: ParsedQuestion,
    index: DocumentIndex,
    similarities: Sequence[float] | None = None,
    named: frozenset[int] = frozenset(),
) -> FirstStage:
    """Return the features that the index provides. `similarities` are the cosines of the pages, if known.

    `named` are pages, from 0, that the question names in another way than by physical number or label.
    """
    pages = len(index)
    words, coverage, first, title = ([0.0] * pages for _ in range(4))
    rarities: dict[str, float] = {}
    average = max(1.0, sum(index.lengths) / max(1, pages))
    spread = [SATURATION * (1 - LENGTH_EFFECT + LENGTH_EFFECT * length / average) for length in index.lengths]
    for stem in question.stems:
        start, end = index.span(stem)
        rarities[stem] = weight = rarity(pages, end - start)
        for at in range(start, end):
            page, count, fields = index.pages[at], index.counts[at], index.fields[at]
            words[page] += weight * count / (count + spread[page])
            coverage[page] += weight
            if fields:
                first[page] += weight * (fields & FIRST != 0)
                title[page] += weight * (fields & TITLE != 0)
    whole = sum(rarities.values()) or 1.0
    without_numbers = sum(weight for stem, weight in rarities.items() if not stem.isdigit()) or 1.0
    full = 255 * NUMERIC_PAGE
    return FirstStage(
        question=question,
        rarities=rarities,
        words=[each / whole for each in words],
        coverage=[each / whole for each in coverage],
        first_lines=[each / without_numbers for each in first],
        title=[each / without_numbers for each in title],
        numeric=[min(1.0, each / full) for each in index.numeric] if question.about_amounts else [0.0] * pages,
        lists=index.lists,
        similarities=similarities,
        referred={**_implied(question, index), **dict.fromkeys(_referred(question, index) | named, 1.0)},
    )


def _referred(question: ParsedQuestion, index: DocumentIndex) -> frozenset[int]:
    """Return the pages, from 0, that the question names by their number or by a label on them."""
    found = {at for at, number in enumerate(index.numbers) if number in question.pages and number}
    if question.last_page and len(index):
        found.add(len(index) - 1)
    for label in question.labels:
        found.update(_pages_of(label, question.labels, index))
    return frozenset(found)


def _implied(question: ParsedQuestion, index: DocumentIndex) -> dict[int, float]:
    """Return the pages, from 0, of statements with items of a metric, unless the question names a statement."""
    if any(label.kind == STATEMENT for label in question.labels):
        return {}
    return {page: IMPLIED for label in question.statements for page in _pages_with(label, index)}


def _pages_of(label: Label, labels: Sequence[Label], index: DocumentIndex) -> list[int]:
    """Return the pages, from 0, with a label. In "act 3, scene 2", scene 2 has only its pages in act 3, if there are
    any, and act 3 then has none.
    """
    pages = _pages_with(label, index)
    if any(_inside(_pages_with(each, index), label, index) for each in labels if is_inside(each, label)):
        return []
    for outer in labels:
        if is_inside(label, outer):
            pages = _inside(pages, outer, index) or pages
    return pages


def _inside(pages: Sequence[int], outer: Label, index: DocumentIndex) -> list[int]:
    """Return the pages in `pages` of a part with the label `outer`, which ends where the next part of its kind begins.

    If there are none, return those on which the next part begins.
    """
    starts = set(_pages_with(outer, index))
    every = (Label(outer.kind, str(number)) for number in range(1, MOST_PARTS + 1))
    others = sorted({page for each in every if each != outer for page in _pages_with(each, index)} - starts)
    spans = [(start, next((other for other in others if other > start), len(index))) for start in starts]
    whole = [page for page in pages if any(start <= page < end for start, end in spans)]
    return whole or [page for page in pages if any(page == end for _, end in spans)]


def _pages_with(label: Label, index: DocumentIndex) -> list[int]:
    """Return the pages, from 0, with a line that begins with the label, without tables of contents and indexes.

    For a financial statement, pages with few numbers are left out, too.
    """
    least = 255 * STATEMENT_NUMBERS if label.kind == STATEMENT else 0
    return [
        page
        for page in index.pages[slice(*index.span(label.term))]
        if not index.lists[page] and index.numeric[page] >= least
    ]


@frozen
class PageWords:
    """The words of a page and its stems. `words` and `stemmed` are texts with a space before, between, and after them."""

    words: str = field(repr=False)
    stemmed: str = field(repr=False)
    stems: Sequence[str] = field(repr=False)


@lru_cache(maxsize=PAGES_KEPT)
def page_words(text: str) -> PageWords:
    """Return the words of a page, cached because the same pages are the best for many questions."""
    words = tokens(text)
    here = stems(words)
    return PageWords(f" {' '.join(words)} ", f" {' '.join(here)} ", here)


def second_stage(stage: FirstStage, page: int, text: str) -> Features:
    """Return the features of a page, by its number from 0, including those that need its text."""
    own = page_words(text)
    return stage.features(
        page,
        pairs=_share((weight, pair in own.stemmed) for weight, pair in stage.pairs),
        whole_words=_share((weight, word in own.words) for weight, word in stage.whole_words),
        passage=_best_passage(own.stems, stage.rarities),
    )


def _share(weighted: Iterable[tuple[float, bool]]) -> float:
    """Return the fraction of the total weight whose second value is True, or 0 without weight."""
    whole = found = 0.0
    for weight, is_there in weighted:
        whole += weight
        found += weight * is_there
    return found / whole if whole else 0.0


def _best_passage(here: Sequence[str], rarities: Mapping[str, float]) -> float:
    """Return the weight of the question's stems that one passage has, as a fraction of the weight of all of them."""
    whole = sum(rarities.values())
    if not whole:
        return 0.0
    last = max(0, -(-(len(here) - STEP) // STEP) - 1)
    stems_of: dict[int, set[str]] = {}
    for at, stem in [(at, stem) for at, stem in enumerate(here) if stem in rarities]:
        for passage in range(max(0, (at - PASSAGE) // STEP + 1), min(last, at // STEP) + 1):
            stems_of.setdefault(passage, set()).add(stem)
    sums = (sum([rarities[stem] for stem in found]) for found in stems_of.values())
    return max(sums, default=0.0) / whole
