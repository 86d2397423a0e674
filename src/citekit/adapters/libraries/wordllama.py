"""WordLlama's static vectors (`l2_supercat`, 256 dimensions), read out of its installed wheel.

The package itself is not imported. Its `__init__` imports an HTTP client, sets up the root logger, and its loader falls
back to a download; weights and tokenizer are read with the two libraries that it uses for that (safetensors,
tokenizers) in half of the time. Its pooling is the mean of the tokens' rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.libraries import tokenizers
from citekit.adapters.libraries.model_files import imported, package_folder, verified
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

WHAT = "Embedding with static vectors"
EXTRA = "library"
DIMENSIONS = 256
WEIGHTS = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
"""SHA-256 of the weights of wordllama 0.4.0.post1, 16,384,096 bytes."""

TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
"""SHA-256 of its tokenizer."""


@frozen(eq=False)
class WordLlama:
    """`rows`: a float32 vector for each token of the `tokenizer`'s 32,000, of 256 dimensions."""

    rows: NDArray[np.float32]
    tokenizer: Tokenizer


def table() -> dict[type[BaseException], str]:
    """For every exception of reading the weights: what its text says."""
    safetensors: Any = imported("safetensors", WHAT, EXTRA)
    return {
        safetensors.SafetensorError: "are damaged",
        OSError: "cannot be read",
        MemoryError: "need more memory than there is",
        ValueError: "are damaged",
        KeyError: "are damaged",
        TypeError: "are damaged",
    }


def _load() -> WordLlama:
    folder = package_folder("wordllama", WHAT, EXTRA)
    weights = verified(folder / "weights" / "l2_supercat_256.safetensors", WEIGHTS, "wordllama")
    tokens = verified(folder / "tokenizers" / "l2_supercat_tokenizer_config.json", TOKENIZER, "wordllama")
    return WordLlama(_read(weights), tokenizers.load(tokens, None, WHAT, EXTRA))


def _read(path: Path) -> NDArray[np.float32]:
    safetensors: Any = imported("safetensors", WHAT, EXTRA)
    numpy: Any = imported("numpy", WHAT, EXTRA)
    try:
        with safetensors.safe_open(str(path), framework="numpy", device="cpu") as file:
            rows: NDArray[np.float32] = file.get_tensor("embedding.weight").astype(numpy.float32)
    except tuple(table()) as error:
        known = table()
        says = next(known[kind] for kind in type(error).__mro__ if kind in known)
        raise EmbedderUnavailable(f"The weights {path} {says}: pip install --force-reinstall wordllama.") from error
    return rows


load = Once(_load)
"""The vectors, which all embedders of the process share. Raises `DriverMissing`, `EmbedderUnavailable`."""
