"""Parses queries for text: words, quoted phrases, or a regular expression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from attrs import evolve, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.text_search.inflections import number_forms
from citekit.domain.text_search.line_pattern import LinePattern
from citekit.domain.words import words_of

LONGEST = 1000
"""The maximum number of characters of a query."""

TERMS = 32
"""The maximum number of words and phrases in a query."""

_PARTS = re.compile(r'["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d\u201e]|(\S+)')


@frozen
class TextQuery:
    """A query for text: either phrases or a regular expression (`pattern`).

    A phrase is a sequence of adjacent words, or a single word. `quoted` has the phrases in quotation marks.
    """

    phrases: Sequence[tuple[str, ...]] = ()
    pattern: LinePattern | None = None
    quoted: Sequence[tuple[str, ...]] = ()

    @property
    def is_quoted(self) -> bool:
        """Whether the query has phrases in quotation marks."""
        return bool(self.quoted)

    @property
    def quoted_words(self) -> frozenset[str]:
        """The words in quotation marks."""
        return frozenset(word for phrase in self.quoted for word in phrase)

    def may_lack_words(self, absent: Sequence[str]) -> bool:
        """Return whether a query with quoted phrases may also be answered by pages that lack some of its words.

        `absent` are the words that no searched text has. If one of them is quoted, its absence is already the answer.
        """
        return self.is_quoted and len(self.phrases) > 1 and self.quoted_words.isdisjoint(absent)

    def other_numbers(self) -> dict[str, str]:
        """Return the unquoted numbers of the query, each with its other form, in words or digits."""
        words = (word for word in self.words if word not in self.quoted_words)
        return {word: form for word in words for form in number_forms(word)[:1]}

    @property
    def may_be_question(self) -> bool:
        """True if pages without some words may be useful: the query has several words, and none is quoted."""
        return self.pattern is None and not self.is_quoted and len(self.words) > 1

    @cached_property
    def words(self) -> Sequence[str]:
        """The distinct words of all phrases."""
        return tuple(dict.fromkeys(word for phrase in self.phrases for word in phrase))

    def reading(self, instead: Mapping[str, str]) -> TextQuery:
        """Return the query with words replaced as in `instead`, except quoted ones."""
        phrases = (
            phrase if phrase in self.quoted else tuple(instead.get(word, word) for word in phrase)
            for phrase in self.phrases
        )
        return evolve(self, phrases=list(dict.fromkeys(phrases)))


def parse_query(text: str, *, regex: bool = False) -> TextQuery:
    """Parse a query: words and phrases or, if `regex` is True, a regular expression.

    Text in quotation marks is a phrase, and so is a word with punctuation, such as `2,721`. Raise `RequestRefused` if
    the query has no words, has more than `TERMS` words and phrases, or is too long, or if the regular expression is
    empty, invalid, unsupported, or too large.
    """
    if len(text) > LONGEST:
        raise RequestRefused(f"The query has {len(text):,} characters. Use at most {LONGEST:,}.")
    if regex:
        if not text:
            raise RequestRefused("The regular expression is empty. Give a pattern to find.")
        return TextQuery(pattern=LinePattern.of(text))
    found = _PARTS.findall(text)
    parts = [(tuple(words_of(quoted or plain)), bool(quoted)) for quoted, plain in found]
    phrases = list(dict.fromkeys(words for words, _ in parts if words))
    if not phrases:
        raise RequestRefused("The query has no letters or digits. Give the words to find.")
    if len(phrases) > TERMS:
        raise RequestRefused(f"The query has {len(phrases)} words and phrases. Use at most {TERMS}.")
    return TextQuery(phrases, quoted=list(dict.fromkeys(words for words, is_quoted in parts if words and is_quoted)))
