"""Caches a model's answers while a map is unfinished, so that a resumed mapping does not pay for an answer twice.

A cached answer is validated again when it is used, so a damaged or forged one does no more harm than a wrong one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from citekit.adapters.mappers.llm.answers import Answer, RawNode
from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import check_folder, make_folder, read_file
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import HomeUnwritable
from citekit.domain.model_usage import Usage

LIFETIME = 30 * 86_400.0
"""Seconds without a new answer after which the answers about an unfinished map are removed."""

SIZE_LIMIT = 20_000_000
"""The maximum size in bytes of a cached answer that is read."""

_KEY_LENGTH = 40
"""The number of characters of a key in a file name."""


@frozen
class CachedAnswer:
    """A model's answer about one window, with the requests and tokens used.

    `repaired` means that the model was already asked to correct this answer.
    """

    answer: Answer
    usage: Usage
    notes: tuple[str, ...] = ()
    repaired: bool = False


def cache_key(*facts: object) -> str:
    """Return a hash of `facts` for use as a file name."""
    return hashlib.sha256(json.dumps(facts, default=str, ensure_ascii=False).encode()).hexdigest()[:_KEY_LENGTH]


class AnswerCache(Protocol):
    """A cache of answers. The first key stands for the map, the second for the window.

    An answer that cannot be written or read counts as missing.
    """

    def get(self, map_key: str, window_key: str) -> CachedAnswer | None:
        """Return the answer about that window; None if it is missing."""

    def put(self, map_key: str, window_key: str, kept: CachedAnswer) -> None:
        """Store an answer. It replaces an earlier answer with the same keys."""

    def count(self, map_key: str) -> int:
        """Return the number of cached answers for that map."""

    def discard(self, map_key: str, window_key: str) -> None:
        """Remove the answer about that window, if there is one."""

    def drop(self, map_key: str) -> None:
        """Remove all answers for that map."""


@define
class MemoryAnswerCache:
    """Caches answers in memory."""

    _answers: dict[str, dict[str, CachedAnswer]] = field(factory=dict)

    def get(self, map_key: str, window_key: str) -> CachedAnswer | None:
        """See `AnswerCache.get`."""
        return self._answers.get(map_key, {}).get(window_key)

    def put(self, map_key: str, window_key: str, kept: CachedAnswer) -> None:
        """See `AnswerCache.put`."""
        self._answers.setdefault(map_key, {})[window_key] = kept

    def count(self, map_key: str) -> int:
        """See `AnswerCache.count`."""
        return len(self._answers.get(map_key, {}))

    def discard(self, map_key: str, window_key: str) -> None:
        """See `AnswerCache.discard`."""
        self._answers.get(map_key, {}).pop(window_key, None)

    def drop(self, map_key: str) -> None:
        """See `AnswerCache.drop`."""
        self._answers.pop(map_key, None)


@frozen
class FileAnswerCache:
    """Caches answers in files under `folder`: a folder for each map, with one JSON file for each window.

    Each file has an authentication code of this CiteKit home, so files from another home count as missing. The methods
    raise `HomeUnsafe` if a folder of the home on the path is a link.
    """

    folder: Path
    _seal: HomeSeal = field(init=False, repr=False, eq=False)

    @_seal.default
    def _seal_of_folder(self) -> HomeSeal:
        return HomeSeal(self.folder)

    def get(self, map_key: str, window_key: str) -> CachedAnswer | None:
        """See `AnswerCache.get`."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            code, _, payload = read_file(self._path(map_key, window_key), SIZE_LIMIT).partition(b"\n")
            if self._seal.holds(bytes.fromhex(code.decode()), map_key.encode(), window_key.encode(), payload):
                return _from_plain(json.loads(payload))
        return None

    def put(self, map_key: str, window_key: str, kept: CachedAnswer) -> None:
        """See `AnswerCache.put`. Also remove the answers of maps that have had no new answer for `LIFETIME`."""
        payload = json.dumps(_to_plain(kept)).encode()
        with suppress(HomeUnwritable):
            make_folder(self.folder)
            code = self._seal.code(map_key.encode(), window_key.encode(), payload).hex().encode()
            write_atomically(self._path(map_key, window_key), code + b"\n" + payload, durable=False)
        self._remove_old()

    def count(self, map_key: str) -> int:
        """See `AnswerCache.count`."""
        return sum(self.get(map_key, path.stem) is not None for path in self._files(map_key))

    def discard(self, map_key: str, window_key: str) -> None:
        """See `AnswerCache.discard`."""
        check_folder(self.folder / map_key)
        with suppress(OSError):
            self._path(map_key, window_key).unlink()

    def drop(self, map_key: str) -> None:
        """See `AnswerCache.drop`."""
        for path in self._files(map_key):
            with suppress(OSError):
                path.unlink()
        with suppress(OSError):
            (self.folder / map_key).rmdir()

    def _path(self, map_key: str, window_key: str) -> Path:
        return self.folder / map_key / f"{window_key}.json"

    def _files(self, map_key: str) -> list[Path]:
        check_folder(self.folder / map_key)
        with suppress(OSError):
            return [path for path in (self.folder / map_key).iterdir() if path.suffix == ".json"]
        return []

    def _remove_old(self) -> None:
        horizon = time.time() - LIFETIME
        with suppress(OSError):
            for folder in self.folder.iterdir():
                if folder.lstat().st_mtime < horizon and folder.is_dir() and not folder.is_symlink():
                    self.drop(folder.name)


def _to_plain(kept: CachedAnswer) -> dict[str, Any]:
    answer, usage = kept.answer, kept.usage
    return {
        "title": answer.title,
        "truncated": answer.truncated,
        "items": [[item.path, item.level, item.record, item.error] for item in answer.items],
        "usage": [usage.requests, usage.input_tokens, usage.output_tokens],
        "notes": list(kept.notes),
        "repaired": kept.repaired,
    }


def _from_plain(plain: Mapping[str, Any]) -> CachedAnswer:
    """Return the answer stored as `plain`.

    Raise `ValueError`, `TypeError`, or `KeyError` if `plain` is not a stored answer.
    """
    items = [RawNode(str(path), int(level), _record(record), str(text)) for path, level, record, text in plain["items"]]
    title = plain["title"]
    if not (title is None or isinstance(title, str)):
        raise TypeError("The title must be a string or null.")
    requests, tokens_in, tokens_out = (int(count) for count in plain["usage"])
    answer = Answer(title=title, items=items, truncated=bool(plain["truncated"]))
    notes = tuple(str(note) for note in plain["notes"])
    return CachedAnswer(answer, Usage(requests, tokens_in, tokens_out), notes, bool(plain["repaired"]))


def _record(plain: object) -> Mapping[str, Any] | None:
    if plain is not None and not isinstance(plain, dict):
        raise TypeError("A node must be an object or null.")
    return plain
