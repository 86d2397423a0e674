"""Plans a query of the node search index: which words a node must have, and which rows are read.

If few nodes match, they are read, and further words are checked in memory; otherwise, only the first ones are read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from citekit.adapters.search.node_search.index_writer import INDEXED, LONG, SHORT, TEXT
from citekit.adapters.search.node_search.ranking import Census, Offer, Ranking, left, ranked, texts_of

EXPANDED = 24
"""Maximum number of words that replace a word prefix."""


class Lexeme(NamedTuple):
    """A word of the index with the letter that is its prefix there (see `index_writer`).

    If `begins` is True, the lexeme also stands for longer words that begin with `word`.
    """

    letter: str
    word: str
    begins: bool = False


Condition = Sequence[Sequence[Lexeme]]
"""Groups of lexemes. A node fulfills the condition if it has at least one lexeme of each group."""

N = TypeVar("N")


class Row(Protocol):
    """A node as it is stored."""

    @property
    def title(self) -> str:
        """The title of the node."""

    @property
    def summary(self) -> str | None:
        """The summary of the node."""


R = TypeVar("R", bound=Row)
C = TypeVar("C", bound=Row, covariant=True)


class Tables(Protocol[N, C]):
    """The tables of an index in one transaction. N identifies a node, and C is its row."""

    def having(self, condition: Condition, limit: int) -> list[N]:
        """Return the first `limit` nodes that fulfill the condition, sorted by map and then in reading order."""

    def read(self, nodes: Sequence[N]) -> Sequence[C]:
        """Return the rows of these nodes, sorted by map and then in reading order."""

    def of_map(self, resource_id: str) -> Iterable[C]:
        """Return the rows of all nodes of a map in reading order."""

    def common(self, word: str) -> int:
        """Return how often words that begin with `word` occur in nodes. Each word counts once for each node."""

    def begun(self, word: str, limit: int) -> Sequence[str]:
        """Return at most `limit` indexed words that begin with `word`."""


class _Term(NamedTuple):
    """A word of the query. `common` is how often words with this prefix occur in nodes.

    `begun` are the indexed words with this prefix; empty if there are none or too many.
    """

    word: str
    common: int
    begun: tuple[str, ...]

    def beginning(self, letters: str) -> Sequence[Lexeme]:
        """Return the lexemes for words that start with this word. `letters` are the allowed prefixes in the index."""
        if self.begun:
            return [Lexeme(letter, word) for letter in letters for word in self.begun]
        return [Lexeme(letter, self.word, begins=True) for letter in letters]

    def whole(self, letters: str) -> Sequence[Lexeme]:
        """Return the lexemes for exactly this word. `letters` are the allowed prefixes in the index."""
        return [Lexeme(letter, self.word) for letter in letters]


class Asking(Generic[N, R]):
    """One query of the node search index, in one transaction.

    Results are `(score, row)`, at most `limit`, best first. At most `counted` nodes are scored, or `limit` if it is
    greater.
    """

    def __init__(self, tables: Tables[N, R], words: Sequence[str], limit: int, counted: int) -> None:
        self._tables = tables
        self._words = words
        self._limit = limit
        self._counted = max(counted, limit)
        self._terms: list[_Term] = []
        self._census: Census | None = None
        self._offers: list[Offer[R]] = []
        self._had_last: list[N] = []

    def everywhere(self) -> list[tuple[float, R]]:
        """Return the best nodes of all maps."""
        self._terms = [self._term(word) for word in self._words]
        needed = left([term.common for term in self._terms], self._had)
        if self._census is None and needed:
            self._offers = self._read(self._first([self._terms[at] for at in needed]))
        ranking: Ranking[R] = Ranking(self._words, needed, self._limit, self._counted)
        for each in self._offers:
            ranking.offer(*each)
        return ranking.best()

    def within(self, resources: Sequence[str]) -> list[tuple[float, R]]:
        """Return the best nodes of the maps `resources`, all of whose nodes are read."""

        def offers() -> Iterator[Offer[R]]:
            for order, resource_id in enumerate(resources):
                for at, row in enumerate(self._tables.of_map(resource_id)):
                    yield (order, at), texts_of(row.title, row.summary), row

        return ranked(self._words, offers, self._limit, self._counted)

    def _had(self, some: Sequence[int]) -> bool:
        """Return whether any node has all of the words at the positions `some`.

        If few nodes do, they are read, and later calls are answered from memory.
        """
        if self._census is not None:
            return self._census.had(some)
        nodes = self._tables.having([self._terms[at].beginning(TEXT) for at in some], self._counted + 1)
        if nodes:
            self._had_last = nodes
        if 0 < len(nodes) <= self._counted:
            self._offers, self._census = self._read(nodes), Census(self._words)
            for _, texts, _ in self._offers:
                self._census.look(texts)
        return bool(nodes)

    def _first(self, terms: Sequence[_Term]) -> Sequence[N]:
        """Return at most `_counted` nodes in ranking order: those with `terms` in the title, and then those in
        `_had_last`.
        """
        most = self._counted
        begun = [
            node
            for kind in (SHORT, LONG)
            for node in self._tables.having([term.beginning(kind) for term in terms], most + 1)
        ]
        titled = dict.fromkeys(begun if len(begun) <= most else self._titled(terms))
        return list(itertools.islice({**titled, **dict.fromkeys(self._had_last)}, most))

    def _titled(self, terms: Sequence[_Term]) -> Iterable[N]:
        """Return the first nodes with `terms` in the title, without reading all such nodes.

        Matches of whole words precede those of prefixes; in each group, short nodes come first.
        """
        seen: dict[N, None] = {}
        for lexemes in ([term.whole for term in terms], [term.beginning for term in terms]):
            for letter in (SHORT, LONG):
                condition = [each(letter) for each in lexemes]
                seen.update(dict.fromkeys(self._tables.having(condition, self._counted + len(seen))))
                if len(seen) >= self._counted:
                    return seen
        return seen

    def _read(self, nodes: Sequence[N]) -> list[Offer[R]]:
        rows = enumerate(self._tables.read(nodes))
        return [((0, at), texts_of(row.title, row.summary), row) for at, row in rows]

    def _term(self, word: str) -> _Term:
        """Look up how common a word of the query is and which indexed words start with it."""
        short = len(word) <= INDEXED
        common = self._tables.common(word)
        known = self._tables.begun(word, 2 if short else EXPANDED + 1) if common else ()
        few = len(known) <= (1 if short else EXPANDED)
        return _Term(word, common, tuple(known) if few else ())
