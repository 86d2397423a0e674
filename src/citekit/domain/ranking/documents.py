"""Estimates how likely each document is to answer a question, as a prior for its pages."""

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
"""A document counts as fully named if the rarities of the question's words in its name have at least this sum."""


@frozen
class DocumentMatches:
    """The documents in which a term occurs `count` times in all, on `pages` pages."""

    pages: int
    count: int
    resource_ids: Sequence[str]


@frozen
class DocumentWeights:
    """The weights of the features of a document, whose values are from 0 to 1.

    `names` is the sum of the rarities of the question's words in the document's title, file name, or authors, divided
    by `_ENOUGH`. The other values are averages over the question's words, weighted by rarity: `coverage` counts 1 for
    each word that occurs in the text, `words` counts how often it occurs, with saturation, and `density` counts the
    square root of the fraction of pages that contain it.
    """

    names: float
    coverage: float
    words: float
    density: float

    def of_word(self, found: DocumentMatches, size: int) -> float:
        """Return the value of a word of the question for a document of `size` pages."""
        return (
            self.coverage
            + self.words * found.count / (found.count + 1 + size / 8)
            + self.density * math.sqrt(found.pages / size)
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

    There is a group for each year of the question, for each word except stop words and single letters, and for each
    pair of adjacent words written as one word. Words of `INSTRUCTIONS` are left out.
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


def document_priors(
    question: ParsedQuestion,
    matches: Mapping[str, Sequence[DocumentMatches]],
    sizes: Mapping[str, int],
    weights: DocumentWeights,
) -> dict[str, float]:
    """Return the prior of each document whose text or name contains a word of the question, by resource ID.

    `matches` has the occurrences of each term, and `sizes` has the number of pages of each document that is searched,
    by resource ID.
    """
    names: dict[str, float] = {}
    for terms in asked_names(question):
        found = {name for term in terms for each in matches.get(term, ()) for name in each.resource_ids}
        best = [name for name in found if name in sizes]
        weight = rarity(len(sizes), len(best))
        for name in best:
            names[name] = names.get(name, 0.0) + weight
    sums: dict[str, float] = {}
    whole = 0.0
    for stem in question.stems:
        having = [(each, [name for name in each.resource_ids if name in sizes]) for each in matches.get(stem, ())]
        weight = rarity(len(sizes), sum(len(own) for _, own in having))
        whole += weight
        for each, own in having:
            values: dict[int, float] = {}
            for name in own:
                size = sizes[name]
                if size not in values:
                    values[size] = weight * weights.of_word(each, size)
                sums[name] = sums.get(name, 0.0) + values[size]
    priors = {name: total / (whole or 1.0) for name, total in sums.items()}
    for name, total in names.items():
        priors[name] = priors.get(name, 0.0) + weights.names * min(1.0, total / _ENOUGH)
    return priors
