"""Defines the limits of the answers of `find`, `read`, and `ask`."""

from __future__ import annotations

LIMIT = 10
"""The default maximum number of hits in an answer of a search."""

PARTIAL_LIMIT = 5
"""The default maximum number of hits if no page contains all words."""

HIT_LIMIT = 100
"""The maximum number of hits in an answer of a search."""

CONTEXT_LIMIT = 20
"""The maximum number of context lines on each side of a hit."""

MAX_CHARS = 6_000
"""The default maximum number of characters in an answer that reads text."""

CHARS_LIMIT = 50_000
"""The maximum number of characters in an answer that reads text."""

CHARS_LEAST = 200
"""The lowest limit of characters that a caller can choose."""

PASSAGES = 8
"""The default maximum number of passages for a model that answers a question."""

PAGES_COUNTED = 10_000
"""The maximum number of pages with all words that are counted."""
