"""Decides whether readers of a file see a passage of its source.

The source contains not only markup but also comments, scripts, and hidden elements, so the words of a passage must also
be in the text that readers see at the same location.
"""

from __future__ import annotations

import html
import re
from collections import Counter

from citekit.domain.quotes.normal_form import normalised, without_gaps
from citekit.domain.words import words_of

_TAG = re.compile(r"<!--.*?-->|<[!/?]?[A-Za-z][^<>]*>", re.DOTALL)

_LEAST = 0.5
"""Minimum fraction of the words of a passage that readers must see. They do not see, for example, link targets."""


def is_shown_with_tags(passage: str, visible: str) -> bool:
    """Return whether the words of an HTML passage, without its tags, follow each other in `visible`.

    A passage without words counts as shown.
    """
    said = without_gaps(normalised(html.unescape(_TAG.sub(" ", passage))).text)
    return not any(map(str.isalnum, said)) or said in without_gaps(normalised(visible).text)


def is_shown_with_markup(passage: str, visible: str) -> bool:
    """Return whether `visible` has at least half of the words of a passage with markup that is not HTML."""
    said, seen = Counter(words_of(_TAG.sub(" ", passage))), Counter(words_of(visible))
    return (said & seen).total() >= _LEAST * said.total()
