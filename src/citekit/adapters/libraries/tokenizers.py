"""The `tokenizers` library: imported on first use, never told to fetch anything.

A tokenizer is set up once and then only read, so that threads may share it: its settings cannot be changed while
another thread encodes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.model_files import imported
from citekit.domain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def table() -> dict[type[BaseException], str]:
    """For every exception of reading a tokenizer or using it: what its text says. The library has none of its own."""
    return {
        OSError: "cannot be read",
        UnicodeError: "holds text that is no Unicode",
        ValueError: "is no tokenizer",
        TypeError: "is no tokenizer",
        MemoryError: "needs more memory than there is",
        Exception: "is no tokenizer, or a damaged one",
    }


def load(path: Path, window: int | None, what: str, extra: str) -> Tokenizer:
    """The tokenizer in a `tokenizer.json`, without padding; longer texts come in pieces of `window` tokens (None: whole).

    Raises `DriverMissing`, `EmbedderUnavailable`.
    """
    library: Any = imported("tokenizers", what, extra)
    try:
        tokenizer: Tokenizer = library.Tokenizer.from_str(path.read_text(encoding="utf-8"))
        tokenizer.no_padding()
        tokenizer.no_truncation() if window is None else tokenizer.enable_truncation(window)
    except Exception as error:
        raise failure(path, error) from error
    return tokenizer


def failure(path: Path, error: BaseException) -> EmbedderUnavailable:
    """Our error for an exception of the library about the tokenizer at `path`."""
    known = table()
    says = next(known[kind] for kind in type(error).__mro__ if kind in known)
    detail = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return EmbedderUnavailable(f"The tokenizer {path} {says} ({detail}).")
