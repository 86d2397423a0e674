"""An embedder with a sentence encoder in a user's folder, in the layout of sentence-transformers and Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from attrs import field, frozen

from citekit.adapters.libraries import onnxruntime
from citekit.adapters.libraries.model_files import digest
from citekit.adapters.search.embedders.onnx_encoder import Encoder, Pooling
from citekit.adapters.search.embedders.texts import Prompts
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

_LIMIT = 1 << 20
_POOLINGS = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_lasttoken": Pooling.LAST,
}
_WINDOW = 512
"""Window in tokens if no file specifies a window of at least 16 tokens."""

_WIDEST = 2048
"""Maximum number of tokens in one run, whatever the model allows, because the work grows with their square."""


@frozen(kw_only=True)
class Settings:
    """The settings for running a model: its pooling, its prompts, and its window in tokens."""

    pooling: Pooling
    window: int
    prompts: Prompts


def read(folder: Path) -> Settings:
    """Read the settings of the model in `folder`.

    Raise `EmbedderUnavailable` if a file is damaged or requires a feature that is not supported.
    """
    return Settings(pooling=_pooling(folder), window=_window(folder), prompts=_prompts(folder))


def _pooling(folder: Path) -> Pooling:
    modules = _json(folder / "modules.json", [])
    kinds = [str(each.get("type", "")).rpartition(".")[2] for each in modules if isinstance(each, dict)]
    if strange := set(kinds) - {"Transformer", "Pooling", "Normalize", ""}:
        raise EmbedderUnavailable(
            f"The model in {folder} has the module {sorted(strange)[0]!r}, but CiteKit supports only transformer, "
            "pooling, and normalization modules. Choose another model."
        )
    paths = [str(each.get("path", "")) for each in modules if isinstance(each, dict)]
    place = next((path for kind, path in zip(kinds, paths, strict=True) if kind == "Pooling"), "1_Pooling")
    return _mode(folder, _json(folder / Path(place).name / "config.json", {}))


def _mode(folder: Path, said: dict[str, Any]) -> Pooling:
    modes = [name for name, value in said.items() if name.startswith("pooling_mode_") and value is True]
    named = said.get("pooling_mode")
    if not modes and (named is None or named in set(Pooling)):
        return Pooling.MEAN if named is None else Pooling(named)
    modes = modes or [str(named)]
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise EmbedderUnavailable(
            f"The model in {folder} {'combines' if len(modes) > 1 else 'uses'} {' and '.join(modes)}, which CiteKit does not "
            "support. Choose a model with mean, CLS, max, or last-token pooling."
        )
    return _POOLINGS[modes[0]]


def _window(folder: Path) -> int:
    names = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("config.json", "max_position_embeddings"),
        ("tokenizer_config.json", "model_max_length"),
    )
    for file, name in names:
        value = _json(folder / file, {}).get(name)
        if isinstance(value, int) and value >= 16:
            return min(value, _WIDEST)
    return _WINDOW


def _prompts(folder: Path) -> Prompts:
    said = _json(folder / "config_sentence_transformers.json", {}).get("prompts")
    prompts = said if isinstance(said, dict) else {}
    named = {name: text for name, text in prompts.items() if isinstance(text, str)}
    return Prompts(named.get("query", ""), named.get("document", named.get("passage", "")))


def _json(path: Path, absent: Any) -> Any:
    """Return the content of a small JSON file; `absent` if the file does not exist.

    Raise `EmbedderUnavailable` if the file is too large, is not valid JSON, or has content of another type than
    `absent`.
    """
    try:
        if path.stat().st_size > _LIMIT:
            raise EmbedderUnavailable(
                f"The file {path} is larger than {_LIMIT // 2**20} MB, so it is not a configuration file of a model. "
                "Download the model again."
            )
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return absent
    except OSError as error:
        raise EmbedderUnavailable(
            f"The file {path} cannot be read ({error.strerror or error}). Check its permissions and the disk."
        ) from error
    except (ValueError, RecursionError) as error:
        raise EmbedderUnavailable(
            f"The file {path} cannot be read as JSON ({error}). Download the model again."
        ) from error
    if not isinstance(found, type(absent)):
        raise EmbedderUnavailable(
            f"The file {path} is not a valid configuration file of a model: it must contain a JSON "
            f"{'list' if isinstance(absent, list) else 'object'}. Download the model again."
        )
    return found


_WORD = 2
"""Assumed number of tokens per word. English prose has 1.3; rare words and other languages have more."""


@frozen
class _Loaded:
    encoder: Encoder
    prompts: Prompts
    identity: EmbedderIdentity


@frozen
class OnnxFolderEmbedder:
    """An embedder with the ONNX model in `folder`, which also contains `tokenizer.json`.

    The pooling, window, and prompts are read from the files of sentence-transformers, if these exist. Vectors have unit
    length. Up to `threads` texts are embedded in parallel.
    """

    folder: Path = field(converter=Path)
    threads: int = field(factory=onnxruntime.cores)
    _loaded: Once[_Loaded] = field(init=False, repr=False, eq=False)

    @_loaded.default
    def _make_loaded(self) -> Once[_Loaded]:
        return Once(self._load)

    @property
    def identity(self) -> EmbedderIdentity:
        """The folder's name and the digest of its model, tokenizer, and settings. Getting it loads the model."""
        return self._loaded().identity

    @property
    def window(self) -> int:
        """The number of words per passage: half the window in tokens, but at least 8 and at most 200."""
        return max(8, min(200, self._loaded().encoder.window // _WORD))

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`. The model's prompt for passages is put before each text."""
        loaded = self._loaded()
        return loaded.encoder.many([loaded.prompts.document + text for text in texts], progress) if texts else []

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. The model's prompt for queries is put before the text."""
        loaded = self._loaded()
        return loaded.encoder.one(loaded.prompts.query + text)

    def _load(self) -> _Loaded:
        model, tokenizer = self._file(onnxruntime.MODEL_FILES), self._file(("tokenizer.json",))
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
            raise EmbedderUnavailable(
                f"There is no folder {self.folder}. Give a folder that contains an ONNX model (in CITEKIT_EMBEDDER, as "
                "onnx:FOLDER)."
            )
        found = next((self.folder / name for name in names if (self.folder / name).is_file()), None)
        if found is None:
            raise EmbedderUnavailable(
                f"The folder {self.folder} has no file {names[0]}. Export a model into it: optimum-cli "
                f"export onnx --model MODEL {quote(str(self.folder))}"
            )
        return found

    def _version(self, model: Path, tokenizer: Path, settings: Settings) -> str:
        """Return a digest of the model file, external weights next to it, the tokenizer, and the settings."""
        weights = sorted(path for path in model.parent.glob(f"{model.name}[._]data*") if path.is_file())
        parts = [digest(path) for path in (model, *weights, tokenizer)]
        return sha256(" ".join([*parts, repr(settings)]).encode()).hexdigest()[:12]
