"""Ranks documents by how likely they answer a question. The result is a prior for their pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import frozen

from citekit.domain.library.lexical import STEM, STOP_WORDS, tokens
from citekit.domain.ranking.question import INSTRUCTIONS, ParsedQuestion
from citekit.domain.ranking.rarity import rarity

CANDIDATES = 12
"""Maximum number of documents whose pages are ranked."""

NAME = "!"
"""The first character of a term for a word in the name of a document. Words of texts do not contain it."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ENOUGH = 8.0
"""The sum of the rarities of the question's words in a name from which a document counts as fully named."""


@frozen
class DocumentMatch:
    """On how many pages of a document a term occurs, and how often."""

    resource_id: str
    pages: int
    count: int


@frozen
class DocumentFeatures:
    """How well a document matches a question. The values are from 0 to 1.

    `names` is the sum of the rarities of the question's words in the document's title, file name, or authors, divided
    by `_ENOUGH`. The other values are averages over the question's words, weighted by rarity: `coverage` counts 1 for
    each word that occurs in the text, `words` counts how often it occurs, with saturation, and `density` counts the
    square root of the fraction of pages that contain it.
    """

    names: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    density: float = 0.0

    def dot(self, other: DocumentFeatures) -> float:
        """Return the sum of the values weighted by those of `other`, for example by the weights `DOCUMENTS`."""
        return (
            self.names * other.names
            + self.coverage * other.coverage
            + self.words * other.words
            + self.density * other.density
        )


def name_terms(names: Iterable[str]) -> frozenset[str]:
    """Return the terms for the title, file name, and authors of a document: words, stems, and years."""
    found: set[str] = set()
    for name in names:
        for word in tokens(name.replace("_", " ")):
            if word not in STOP_WORDS:
                found.update((NAME + word, NAME + word[:STEM]))
        found.update(NAME + year for year in _YEAR.findall(name))
    return frozenset(found)


def asked_names(question: ParsedQuestion) -> list[tuple[str, ...]]:
    """Return groups of terms. The name of a document matches a group if it has one of its terms.

    There is a group for each year of the question, for each word that says something about the document, and for each
    pair of adjacent words written as one word.
    """
    words = [word for word in tokens(question.text) if word not in INSTRUCTIONS]
    joined = [NAME + first + second for first, second in pairwise(words)]
    asked = dict.fromkeys(
        (NAME + word, NAME + word[:STEM])
        for word in words
        if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())
    )
    years = dict.fromkeys((NAME + stem, NAME + stem) for stem in question.stems if _YEAR.fullmatch(stem))
    return [*asked, *(each for each in years if each not in asked), *((each,) for each in dict.fromkeys(joined))]


def rank_documents(
    question: ParsedQuestion, matches: Mapping[str, Sequence[DocumentMatch]], sizes: Mapping[str, int]
) -> dict[str, DocumentFeatures]:
    """Return the features of each document whose text or name contains a word of the question.

    `matches` has the occurrences of each term, and `sizes` the number of pages of each document, by resource ID.
    """
    names: dict[str, float] = {}
    sums: dict[str, list[float]] = {}
    for terms in asked_names(question):
        best = {each.resource_id for term in terms for each in matches.get(term, ())}
        weight = rarity(len(sizes), len(best))
        for resource_id in best:
            names[resource_id] = names.get(resource_id, 0.0) + weight
    whole = 0.0
    for stem in question.stems:
        found = matches.get(stem, ())
        weight = rarity(len(sizes), len(found))
        whole += weight
        for each in found:
            size = sizes.get(each.resource_id, 1)
            mine = sums.setdefault(each.resource_id, [0.0, 0.0, 0.0])
            mine[0] += weight
            mine[1] += weight * each.count / (each.count + 1 + size / 8)
            mine[2] += weight * math.sqrt(each.pages / size)
    whole = whole or 1.0
    return {
        resource_id: DocumentFeatures(
            min(1.0, names.get(resource_id, 0.0) / _ENOUGH),
            *(each / whole for each in sums.get(resource_id, (0.0,) * 3)),
        )
        for resource_id in sums.keys() | names.keys()
    }
