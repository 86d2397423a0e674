"""The names of what can be chosen, and of the indexes."""

from __future__ import annotations

MAPPERS = ("auto", "gemini", "openai", "local")
"""The names that `--mapper` knows."""

ADAPTERS = ("graphrag", "llamaindex", "generic")
"""The names that `--adapter` knows."""

INDEX = "index-1"
"""The folder of the index, with the version of what it remembers: rows of another form are never misread."""

NODES = "nodes-1"
"""The folder of the index of nodes by their words, likewise with its version."""

QUOTABLE = "quotable-1"
"""The folder of texts in which quotes are looked for, likewise with its version."""

MODEL_MAPPERS = frozenset({"gemini", "openai"})
"""The mappers that ask a model."""

ANSWERS = "answers"
"""The folder in the cache with the answers of models about maps that are not finished."""

REQUEST_TIMEOUT = 300.0
"""Seconds after which a request to a model is given up, where nothing else is said."""
