"""Defines the limits of the answers of `find`, `read`, and `ask`, without importing the code that searches or reads."""

from __future__ import annotations

LIMIT = 10
"""The default number of hits in an answer of a search."""

PARTIAL_LIMIT = 5
"""The default number of hits in an answer of a search if no page contains all words."""

HIT_LIMIT = 100
"""The maximum number of hits in an answer of a search."""

CONTEXT_LIMIT = 20
"""The maximum number of lines of context before and after a hit."""

MAX_CHARS = 6_000
"""The default number of characters in an answer that reads text."""

CHARS_LIMIT = 50_000
"""The maximum number of characters in an answer that reads text."""

CHARS_LEAST = 200
"""The lowest number of characters to which a caller can limit an answer that reads text."""

PASSAGES = 8
"""The default number of passages that a model gets to answer a question."""
