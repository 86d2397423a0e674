"""A sentence encoder that consists of an ONNX model and a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.libraries import onnxruntime, tokenizers
from citekit.adapters.libraries.model_files import imported
from citekit.adapters.search.embedders.texts import plain, spread
from citekit.adapters.search.embedders.vectors import units
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import Vector
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

WHAT = "Embedding with ONNX"
EXTRA = "library"
_STRIDE = 32
_KNOWN = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
_POOLED = ("sentence_embedding", "pooler_output")


class Pooling(StrEnum):
    """How the vectors of the tokens of a text are combined into one vector."""

    MEAN = "mean"
    CLS = "cls"
    MAX = "max"
    LAST = "last"


@frozen(kw_only=True)
class Encoder:
    """Runs the ONNX model at the path `model` on one text at a time, in up to `threads` parallel threads.

    Texts are not batched: the scale of a model quantized to 8 bits depends on the whole batch. A text of more than
    `window` tokens is split, and the vectors of up to `texts.PIECES` segments are averaged.
    """

    model: Path
    tokenizer: Path
    window: int
    pooling: Pooling = Pooling.MEAN
    threads: int = field(factory=onnxruntime.cores)
    _tokenizer: Once[Tokenizer] = field(init=False, repr=False, eq=False)
    _session: Once[Any] = field(init=False, repr=False, eq=False)

    @_tokenizer.default
    def _make_tokenizer(self) -> Once[Tokenizer]:
        return Once(lambda: tokenizers.load(self.tokenizer, self.window, WHAT, EXTRA))

    @_session.default
    def _make_session(self) -> Once[Any]:
        return Once(lambda: onnxruntime.load(self.model, threads=1))

    @property
    def dimensions(self) -> int:
        """The length of the vectors, determined by running the model on an empty text."""
        return len(self.one(""))

    def one(self, text: str) -> Vector:
        """Return the unit vector of a text."""
        return units(self._vector(text)[None, :], f"The model {self.model}")[0]

    def many(self, texts: Sequence[str], progress: Progress) -> list[Vector]:
        """Return the unit vectors of `texts` in order."""
        found: list[Vector] = []
        with ThreadPoolExecutor(self.threads) as pool:
            for start in range(0, len(texts), _STRIDE):
                progress(start, len(texts), "embedding")
                found += pool.map(self.one, texts[start : start + _STRIDE])
        progress(len(texts), len(texts), "embedding")
        return found

    def _vector(self, text: str) -> Any:
        numpy: Any = imported("numpy", WHAT, EXTRA)
        try:
            whole = self._tokenizer().encode(plain(text))
        except Exception as error:
            raise tokenizers.failure(self.tokenizer, error) from error
        parts = spread([whole, *whole.overflowing])
        weights = [max(1, len(part.ids) - sum(part.special_tokens_mask)) for part in parts]
        return numpy.average([self._run(numpy, part) for part in parts], axis=0, weights=weights)

    def _run(self, numpy: Any, part: Encoding) -> Any:
        session = self._session()
        ids = part.ids or [0]
        given = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        given["position_ids"] = list(range(len(ids)))
        wanted = [each.name for each in session.get_inputs()]
        if strange := [name for name in wanted if name not in _KNOWN]:
            raise EmbedderUnavailable(
                f"The model {self.model} requires the input {strange[0]!r}, so it is not a sentence encoder. "
                "Choose another model."
            )
        try:
            output = session.run(None, {name: numpy.array([given[name]], numpy.int64) for name in wanted})
        except tuple(onnxruntime.table()) as error:
            raise onnxruntime.failure(self.model, error) from error
        return self._pooled(numpy, dict(zip([each.name for each in session.get_outputs()], output, strict=True)))

    def _pooled(self, numpy: Any, outputs: dict[str, Any]) -> Any:
        tokens = next((each[0] for each in outputs.values() if each.ndim == 3), None)
        done = next((outputs[name][0] for name in _POOLED if name in outputs), None)
        if "sentence_embedding" in outputs or tokens is None:
            found = done if done is not None else next((each[0] for each in outputs.values() if each.ndim == 2), None)
            if found is None:
                raise EmbedderUnavailable(
                    f"The model {self.model} outputs neither token vectors nor a sentence vector. Choose a sentence encoder."
                )
            return numpy.asarray(found, numpy.float32)
        return numpy.asarray(_POOL[self.pooling](tokens.astype(numpy.float32)))


_POOL = {
    Pooling.MEAN: lambda tokens: tokens.mean(axis=0),
    Pooling.CLS: lambda tokens: tokens[0],
    Pooling.MAX: lambda tokens: tokens.max(axis=0),
    Pooling.LAST: lambda tokens: tokens[-1],
}
"""No mask is needed: a text is run alone, so there is no padding."""
