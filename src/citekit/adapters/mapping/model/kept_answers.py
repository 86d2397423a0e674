"""Answers about windows of files whose maps are not finished, so that nobody pays twice for what was answered.

An answer is stored as it comes, under the file's digest, the model, the version of the prompt, and the window. It is
validated against the file again when it is used, so a damaged or foreign one does no more harm than a wrong model. The
answers about a file are removed when its map is made.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from citekit.adapters.drivers.files import write_atomically
from citekit.adapters.mapping.model.answers import Answer, Item
from citekit.adapters.mapping.model.conversation import Usage
from citekit.domain.errors import HomeUnwritable

LIFETIME = 30 * 86_400.0
"""Seconds after which answers about an unfinished map are removed."""

SIZE_LIMIT = 20_000_000
"""Bytes of the largest stored answer that is read."""

_NAME = 40
"""Characters of a key in a file name."""


@frozen
class KeptAnswer:
    """An answer about one window. `repaired`: its faults were sent to the model, so they need not be sent again."""

    answer: Answer
    usage: Usage
    notes: tuple[str, ...] = ()
    repaired: bool = False


def key_of(*facts: object) -> str:
    """A name for the same facts, whatever is in them."""
    return hashlib.sha256(json.dumps(facts, default=str, ensure_ascii=False).encode()).hexdigest()[:_NAME]


class KeptAnswers(Protocol):
    """A store of answers, by the key of a map and of a window. What cannot be written or read is as if it were not kept."""

    def get(self, map_key: str, window_key: str) -> KeptAnswer | None:
        """The answer about that window, or None."""

    def put(self, map_key: str, window_key: str, kept: KeptAnswer) -> None:
        """Keep an answer; it replaces an earlier one."""

    def count(self, map_key: str) -> int:
        """How many answers about that map are kept."""

    def drop(self, map_key: str) -> None:
        """Remove all answers about that map."""


@define
class MemoryAnswers:
    """Keeps them for as long as the process runs."""

    _answers: dict[str, dict[str, KeptAnswer]] = field(factory=dict)

    def get(self, map_key: str, window_key: str) -> KeptAnswer | None:
        """See `KeptAnswers`."""
        return self._answers.get(map_key, {}).get(window_key)

    def put(self, map_key: str, window_key: str, kept: KeptAnswer) -> None:
        """See `KeptAnswers`."""
        self._answers.setdefault(map_key, {})[window_key] = kept

    def count(self, map_key: str) -> int:
        """See `KeptAnswers`."""
        return len(self._answers.get(map_key, {}))

    def drop(self, map_key: str) -> None:
        """See `KeptAnswers`."""
        self._answers.pop(map_key, None)


@frozen
class AnswerFiles:
    """Keeps them in files below `folder`: one folder for a map, one JSON file for a window."""

    folder: Path

    def get(self, map_key: str, window_key: str) -> KeptAnswer | None:
        """See `KeptAnswers`."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            path = self._path(map_key, window_key)
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= SIZE_LIMIT:
                return _read(json.loads(path.read_bytes()))
        return None

    def put(self, map_key: str, window_key: str, kept: KeptAnswer) -> None:
        """See `KeptAnswers`."""
        with suppress(HomeUnwritable):
            write_atomically(self._path(map_key, window_key), json.dumps(_written(kept)).encode(), durable=False)
        self._remove_old()

    def count(self, map_key: str) -> int:
        """See `KeptAnswers`."""
        with suppress(OSError):
            return sum(path.suffix == ".json" for path in (self.folder / map_key).iterdir())
        return 0

    def drop(self, map_key: str) -> None:
        """See `KeptAnswers`."""
        folder = self.folder / map_key
        if not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)

    def _path(self, map_key: str, window_key: str) -> Path:
        return self.folder / map_key / f"{window_key}.json"

    def _remove_old(self) -> None:
        horizon = time.time() - LIFETIME
        with suppress(OSError):
            for folder in self.folder.iterdir():
                if folder.lstat().st_mtime < horizon:
                    self.drop(folder.name)


def _written(kept: KeptAnswer) -> dict[str, Any]:
    answer, usage = kept.answer, kept.usage
    return {
        "title": answer.title,
        "truncated": answer.truncated,
        "items": [[item.path, item.level, item.record, item.complaint] for item in answer.items],
        "usage": [usage.requests, usage.input_tokens, usage.output_tokens],
        "notes": list(kept.notes),
        "repaired": kept.repaired,
    }


def _read(plain: Mapping[str, Any]) -> KeptAnswer:
    """Raises `ValueError`, `TypeError`, or `KeyError` for what is no stored answer."""
    items = [Item(str(path), int(level), _record(record), str(text)) for path, level, record, text in plain["items"]]
    title = plain["title"]
    if not (title is None or isinstance(title, str)):
        raise TypeError("a title that is no text")
    requests, tokens_in, tokens_out = (int(count) for count in plain["usage"])
    answer = Answer(title=title, items=items, truncated=bool(plain["truncated"]))
    notes = tuple(str(note) for note in plain["notes"])
    return KeptAnswer(answer, Usage(requests, tokens_in, tokens_out), notes, bool(plain["repaired"]))


def _record(plain: object) -> Mapping[str, Any] | None:
    if plain is not None and not isinstance(plain, dict):
        raise TypeError("a node that is no object")
    return plain
