"""Loads tokenizers from files with the `tokenizers` library, which is imported on first use.

The settings of a tokenizer are not changed later, because this is not possible while another thread encodes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.model_files import imported
from citekit.domain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def table() -> dict[type[BaseException], str]:
    """Map each exception that loading or using a tokenizer can raise to a predicate for the error message."""
    return {
        OSError: "cannot be read",
        UnicodeError: "contains text that is not valid Unicode",
        ValueError: "is not valid",
        TypeError: "is not valid",
        MemoryError: "needs more memory than is available",
        Exception: "is not valid or is damaged",
    }


def load(path: Path, window: int | None, what: str, extra: str) -> Tokenizer:
    """Load the tokenizer in the `tokenizer.json` at `path`, without padding.

    Texts longer than `window` tokens are truncated (None: never). For `what` and `extra`, see `imported`. Raise
    `DriverMissing` if the library is not installed, or `EmbedderUnavailable` if the tokenizer cannot be loaded.
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
    """Return the CiteKit error for an exception of the library about the tokenizer at `path`."""
    known = table()
    says = next(known[kind] for kind in type(error).__mro__ if kind in known)
    detail = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return EmbedderUnavailable(f"The tokenizer {path} {says} ({detail}).")
