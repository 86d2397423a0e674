"""A sentence encoder in a folder of the user's, as sentence-transformers and the Hugging Face hub lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.drivers import onnxruntime
from citekit.adapters.drivers.model_files import digest
from citekit.adapters.drivers.once import Once
from citekit.adapters.embedding.onnx_encoder import Encoder
from citekit.adapters.embedding.sentence_transformers import Settings, read
from citekit.adapters.embedding.texts import Prompts
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

_MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")
_WORD = 2
"""Tokens that a word may well have: of English prose 1.3, of rarer words and other languages more."""


@frozen
class _Loaded:
    encoder: Encoder
    prompts: Prompts
    identity: EmbedderIdentity


@frozen
class OnnxFolderEmbedder:
    """The model in `folder`: `model.onnx` (or in `onnx/`, or `model_quantized.onnx`) and `tokenizer.json`.

    The files of sentence-transformers are heeded where they are there: pooling, window, prompts for questions and passages.
    The vectors have unit length, whatever they say. `threads` texts are embedded at once.
    """

    folder: Path = field(converter=Path)
    threads: int = field(factory=onnxruntime.cores)
    _loaded: Once[_Loaded] = field(init=False, repr=False, eq=False)

    @_loaded.default
    def _make_loaded(self) -> Once[_Loaded]:
        return Once(self._load)

    @property
    def identity(self) -> EmbedderIdentity:
        """Of the folder's name and the digest of its model, tokenizer and settings; loads the model."""
        return self._loaded().identity

    @property
    def window(self) -> int:
        """Half as many words as the model takes tokens, at most 200."""
        return max(8, min(200, self._loaded().encoder.window // _WORD))

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """A vector for each text, with the prompt of passages."""
        loaded = self._loaded()
        return loaded.encoder.many([loaded.prompts.document + text for text in texts], progress) if texts else []

    def query(self, text: str) -> Vector:
        """With the prompt of questions."""
        loaded = self._loaded()
        return loaded.encoder.one(loaded.prompts.query + text)

    def _load(self) -> _Loaded:
        model, tokenizer = self._file(_MODELS), self._file(("tokenizer.json",))
        settings = read(self.folder)
        encoder = Encoder(
            model=model,
            tokenizer=tokenizer,
            window=settings.window,
            pooling=settings.pooling,
            threads=self.threads,
        )
        name = self.folder.resolve().name
        identity = EmbedderIdentity(f"onnx:{name}", self._version(model, tokenizer, settings), encoder.dimensions)
        return _Loaded(encoder, settings.prompts, identity)

    def _file(self, names: Sequence[str]) -> Path:
        if not self.folder.is_dir():
            raise EmbedderUnavailable(f"There is no folder {self.folder}: name one that holds an ONNX model.")
        found = next((self.folder / name for name in names if (self.folder / name).is_file()), None)
        if found is None:
            raise EmbedderUnavailable(
                f"The folder {self.folder} holds no {names[0]}: put it there, as `optimum-cli export onnx` writes it."
            )
        return found

    def _version(self, model: Path, tokenizer: Path, settings: Settings) -> str:
        """External weights beside a model (`model.onnx_data`) count too."""
        weights = sorted(path for path in model.parent.glob(f"{model.name}[._]data*") if path.is_file())
        parts = [digest(path) for path in (model, *weights, tokenizer)]
        return sha256(" ".join([*parts, repr(settings)]).encode()).hexdigest()[:12]
