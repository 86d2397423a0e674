"""A reranker with a cross-encoder in a user's folder, in the layout of sentence-transformers and Hugging Face."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.libraries import onnxruntime, tokenizers
from citekit.adapters.libraries.model_files import imported
from citekit.adapters.search.rerankers.parts import parts, plain, sigmoid
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable, RerankerUnavailable
from citekit.domain.ports.reranker import PageCandidate
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WHAT, EXTRA = "Reranking with ONNX", "library"
WINDOW = 512
"""Maximum number of tokens of a question and a part of a page together: the window of most cross-encoders."""

WORDS, MOST = 200, 4
"""Maximum number of words in a part of a page, and of parts of a page that are scored."""

QUESTION = 2000
"""Maximum number of characters of a question that are used."""

_KNOWN = {"input_ids", "attention_mask", "token_type_ids"}


@frozen
class CrossEncoder:
    """A `Reranker` with the ONNX model in `folder`, which contains `tokenizer.json` and `model.onnx` or a quantized
    model.

    The output is one logit for a pair of texts, or two, of which the second means that the texts match. Pairs are not
    batched, so the score of a page does not depend on the others.
    """

    folder: Path = field(converter=Path)
    threads: int = field(factory=onnxruntime.cores)
    _tokenizer: Once[Tokenizer] = field(init=False, repr=False, eq=False)
    _session: Once[Any] = field(init=False, repr=False, eq=False)

    @_tokenizer.default
    def _make_tokenizer(self) -> Once[Tokenizer]:
        return Once(lambda: tokenizers.load(self._file(("tokenizer.json",)), WINDOW, WHAT, EXTRA))

    @_session.default
    def _make_session(self) -> Once[Any]:
        return Once(lambda: onnxruntime.load(self._file(onnxruntime.MODEL_FILES), threads=1))

    @property
    def name(self) -> str:
        """See `Reranker.name`."""
        return f"cross-encoder {self.folder.name}"

    def scores(self, question: str, pages: Sequence[PageCandidate], progress: Progress = silent) -> Sequence[float]:
        """See `Reranker.scores`. The score of a page is that of its best part."""
        asked = plain(question[:QUESTION])
        pairs = [(at, part) for at, page in enumerate(pages) for part in parts(plain(page.text), WORDS, MOST)]
        found = [0.0] * len(pages)
        try:
            self._tokenizer(), self._session()
            with ThreadPoolExecutor(self.threads) as pool:
                for start in range(0, len(pairs), self.threads):
                    progress(start, len(pairs), "reranking")
                    some = pairs[start : start + self.threads]
                    for (at, _), score in zip(
                        some, pool.map(lambda pair: self._pair(asked, pair[1]), some), strict=True
                    ):
                        found[at] = max(found[at], score)
        except EmbedderUnavailable as error:
            raise RerankerUnavailable(str(error)) from error
        return found

    def _pair(self, question: str, text: str) -> float:
        numpy: Any = imported("numpy", WHAT, EXTRA)
        session = self._session()
        try:
            pair = self._tokenizer().encode(question, text)
        except Exception as error:
            raise tokenizers.failure(self.folder, error) from error
        ids = pair.ids or [0]
        given = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": (pair.type_ids or [0] * len(ids)),
        }
        wanted = [each.name for each in session.get_inputs()]
        if strange := [name for name in wanted if name not in _KNOWN]:
            raise self._no_cross_encoder(f"requires the input {strange[0]!r}")
        try:
            output = session.run(None, {name: numpy.array([given[name]], numpy.int64) for name in wanted})[0]
        except tuple(onnxruntime.table()) as error:
            raise onnxruntime.failure(self.folder, error) from error
        logits = numpy.asarray(output, numpy.float64).ravel()
        if not numpy.isfinite(logits).all():
            raise self._no_cross_encoder("produces scores that are not finite numbers")
        if numpy.ndim(output) > 2 or len(logits) not in (1, 2):
            raise self._no_cross_encoder(f"produces output of the shape {numpy.shape(output)}")
        return sigmoid(float(logits[-1] - (logits[0] if len(logits) > 1 else 0.0)))

    def _no_cross_encoder(self, why: str) -> RerankerUnavailable:
        return RerankerUnavailable(
            f"The model in {self.folder} {why}, so it is damaged or not a cross-encoder. Choose another (CITEKIT_RERANKER)."
        )

    def _file(self, names: Sequence[str]) -> Path:
        if not self.folder.is_dir():
            raise RerankerUnavailable(
                f"There is no folder {self.folder}. Set CITEKIT_RERANKER to onnx:FOLDER, with a folder that contains a "
                "cross-encoder as an ONNX model."
            )
        found = next((self.folder / name for name in names if (self.folder / name).is_file()), None)
        if found is None:
            raise RerankerUnavailable(
                f"The folder {self.folder} has no file {names[0]}. Download a cross-encoder with its ONNX model into it, or "
                "set CITEKIT_RERANKER to onnx:FOLDER, with another folder."
            )
        return found
