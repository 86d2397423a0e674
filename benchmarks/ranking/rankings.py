"""The rankings that are compared: BM25 over pages, and those of CiteKit with and without vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.application.index_ranking import ReadyDocument
from citekit.application.rank_pages import RankPages
from citekit.container import Container
from citekit.domain.errors import CiteKitError
from citekit.domain.words import words_of

Page = tuple[str, int, str]
"""`(resource ID, number of the page or 0, text)`"""

Ranking = Callable[[str, Sequence[str]], list[Page]]
"""Returns the best pages of the resources for a question."""


def mapped(app: Container, files: Sequence[Path]) -> dict[str, str]:
    """Map the files unless they are, and return the resource IDs of those that have text, by file name."""
    found = {}
    for path in files:
        try:
            resource_map = app.ingest(path).resource_map
            app.rank_pages.index.unless_known(resource_map)
        except CiteKitError as error:
            print(f"{path.name} is left out: {error}")
            continue
        found[path.name] = resource_map.resource_id
    return found


def rankings(app: Container) -> dict[str, Ranking]:
    """The rankings by name."""
    words = evolve(app.rank_pages, index=evolve(app.rank_pages.index, embedder=None))
    found: dict[str, Ranking] = {"BM25 over pages": _Reference(app), "CiteKit, words": _ranking(words)}
    if app.rank_pages.index.embedder is not None:
        found["CiteKit"] = _ranking(app.rank_pages)
    return found


def _ranking(rank: RankPages) -> Ranking:
    def ranked(question: str, resources: Sequence[str]) -> list[Page]:
        pages = rank(question, resources, limit=10).pages
        return [(each.resource_id, _number(each.extent), each.block.text) for each in pages]

    return ranked


def pages_of(ready: ReadyDocument, app: Container) -> list[Page]:
    """All pages of a document, in order."""
    index, name = ready.document.index, ready.resource_map.resource_id
    blocks = app.text_index.blocks(name, ready.text_version, range(len(index))).values()
    return [(name, number, block.text) for number, block in zip(index.numbers, blocks, strict=True)]


def _number(extent: object) -> int:
    numbers = getattr(extent, "numbers", (0,))
    return int(numbers[0])


@frozen(eq=False)
class _Reference:
    """Plain BM25 (k1 1.2, b 0.75) over the pages of the resources."""

    app: Container
    _pages: dict[str, list[tuple[Page, Counter[str]]]] = field(factory=dict, init=False)

    def __call__(self, question: str, resources: Sequence[str]) -> list[Page]:
        pages = [each for name in resources for each in self._counted(name)]
        having = Counter(word for _, counts in pages for word in counts)
        average = sum(counts.total() for _, counts in pages) / max(1, len(pages))
        wanted = set(words_of(question))
        scores = ((_bm25(wanted, counts, having, len(pages), average), page) for page, counts in pages)
        return [page for _, page in sorted(scores, key=lambda each: -each[0])[:10]]

    def _counted(self, name: str) -> list[tuple[Page, Counter[str]]]:
        if name not in self._pages:
            ready = self.app.rank_pages.index.unless_known(self.app.maps.get(name))
            self._pages[name] = [(page, Counter(words_of(page[2]))) for page in pages_of(ready, self.app)]
        return self._pages[name]


def _bm25(wanted: set[str], counts: Counter[str], having: Mapping[str, int], pages: int, average: float) -> float:
    length = 1.2 * (0.25 + 0.75 * counts.total() / max(1.0, average))
    return sum(
        math.log(1 + (pages - having[word] + 0.5) / (having[word] + 0.5)) * 2.2 * counts[word] / (counts[word] + length)
        for word in _shared(wanted, counts)
    )


def _shared(wanted: set[str], counts: Counter[str]) -> Iterator[str]:
    return (word for word in wanted if word in counts)
