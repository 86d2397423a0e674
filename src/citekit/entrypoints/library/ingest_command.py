"""Makes the commands that ingest books again, for messages."""

from __future__ import annotations

import shlex

from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.ledger import LedgerEntry

UNKNOWN_LANGUAGES = ("", "unknown")
"""The languages in the ledger of books whose language is unknown."""


def ingest_again(entry: LedgerEntry) -> str:
    """Return the subcommand of `citekit library` that ingests a book again, with the options of its first ingest, except
    `--collection`.
    """
    usual, given = ChunkingParams(), entry.parameters
    options = [
        (option, given.get(name, default))
        for option, name, default in (
            ("--threshold", "threshold", usual.threshold),
            ("--min-words", "min_chunk_size", usual.min_words),
            ("--max-words", "max_chunk_size", usual.max_words),
        )
        if given.get(name, default) != default
    ]
    words = [word for option, value in options for word in (option, str(value))]
    if not given.get("hierarchical", True):
        words.append("--no-chapters")
    if entry.book_id is not None:
        return shlex.join(["ingest", str(entry.book_id), *words])
    named = ["--title", entry.title, "--author", entry.author]
    if entry.language not in UNKNOWN_LANGUAGES:
        named += ["--language", entry.language]
    return shlex.join(["ingest-file", entry.path, *named, *words])
