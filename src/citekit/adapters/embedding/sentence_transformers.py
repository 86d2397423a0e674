"""The files that sentence-transformers keeps beside a model: how its vectors are pooled, its window, its prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.embedding.onnx_encoder import Pooling
from citekit.adapters.embedding.texts import Prompts
from citekit.domain.errors import EmbedderUnavailable

_LIMIT = 1 << 20
_POOLINGS = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_lasttoken": Pooling.LAST,
}
_WINDOW = 512
"""Tokens, where nothing says how many."""

_WIDEST = 2048
"""Tokens of one run at most, whatever the model allows: the work grows with their square."""


@frozen(kw_only=True)
class Settings:
    """How a model is to be run; `window` is in tokens."""

    pooling: Pooling
    window: int
    prompts: Prompts


def read(folder: Path) -> Settings:
    """What the files in a model's folder say.

    Raises `EmbedderUnavailable` where one is damaged, or asks for what is not done here.
    """
    return Settings(pooling=_pooling(folder), window=_window(folder), prompts=_prompts(folder))


def _pooling(folder: Path) -> Pooling:
    modules = _json(folder / "modules.json", [])
    kinds = [str(each.get("type", "")).rpartition(".")[2] for each in modules if isinstance(each, dict)]
    if strange := set(kinds) - {"Transformer", "Pooling", "Normalize", ""}:
        raise EmbedderUnavailable(
            f"The model in {folder} has a module {sorted(strange)[0]!r} beside pooling and normalising, "
            "which is not run here: choose a model without it."
        )
    paths = [str(each.get("path", "")) for each in modules if isinstance(each, dict)]
    place = next((path for kind, path in zip(kinds, paths, strict=True) if kind == "Pooling"), "1_Pooling")
    return _mode(folder, _json(folder / Path(place).name / "config.json", {}))


def _mode(folder: Path, said: dict[str, Any]) -> Pooling:
    modes = [name for name, value in said.items() if name.startswith("pooling_mode_") and value is True]
    if not modes:
        return Pooling(said["pooling_mode"]) if said.get("pooling_mode") in set(Pooling) else Pooling.MEAN
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise EmbedderUnavailable(f"The model in {folder} pools by {' and '.join(modes)}, which is not done here.")
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
    """What a small JSON file holds, of the kind of `absent`, which stands for a file that is not there."""
    try:
        if path.stat().st_size > _LIMIT:
            raise EmbedderUnavailable(f"The file {path} is too large for what it should hold.")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return absent
    except (OSError, ValueError, RecursionError) as error:
        raise EmbedderUnavailable(f"The file {path} cannot be read as JSON ({error}).") from error
    if not isinstance(found, type(absent)):
        raise EmbedderUnavailable(f"The file {path} does not hold what sentence-transformers writes there.")
    return found
