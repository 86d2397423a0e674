"""Defines the names of mappers, importers, and folders in the cache."""

from __future__ import annotations

MAPPERS = ("auto", "gemini", "openai", "local")
"""The built-in values of `--mapper` and CITEKIT_MAPPER."""

ADAPTERS = ("graphrag", "llamaindex", "generic")
"""The built-in values of `--adapter`."""

INDEX = "index-1"
"""The folder of the cache of file metadata, with its schema version."""

NODES = "nodes-1"
"""The folder of the node search index, with its schema version."""

TEXTS = "texts-1"
"""The folder of the text index, with its schema version."""

RANKING = "ranking-1"
"""The folder of the ranking index, with its schema version."""

QUOTABLE = "quotable-1"
"""The folder of cached texts for quotes, with its schema version."""

MODEL_MAPPERS = frozenset({"gemini", "openai"})
"""The mappers that use a model."""

ANSWERS = "answers"
"""The folder in the cache for model answers of unfinished maps."""

REQUEST_TIMEOUT = 300.0
"""The default timeout in seconds for a request to a model."""
