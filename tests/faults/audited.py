"""The adapters of a home, with a line in a log for whatever is really made."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from citekit import CiteKit
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

Point = Callable[[str], object]
"""Called at named points in the middle of work: `half cut`, `mapping`, ..."""


def passed(point: str) -> None:
    """Nothing happens there."""


@frozen
class Log:
    """A file of lines that several processes append to, each in one step."""

    path: Path

    def add(self, *words: object) -> None:
        """One line, with the process and thread that wrote it."""
        line = " ".join(map(str, (os.getpid(), threading.get_ident(), *words)))
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def lines(self) -> list[list[str]]:
        """Every line, as words."""
        return [line.split() for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def made(self, kind: str) -> Counter[str]:
        """How often each thing of a kind was made to its end."""
        return Counter(words[3] for words in self.lines() if words[2] == f"{kind}-made")

    def overlaps(self, kind: str) -> list[str]:
        """What two made at once: begun by one before the other, still alive, had finished it."""
        begun, found = set[str](), []
        for words in self.lines():
            if words[2] == f"{kind}-begun":
                found += [words[3]] if words[3] in begun else []
                begun.add(words[3])
            elif words[2] in (f"{kind}-made", f"{kind}-failed"):
                begun.discard(words[3])
        return found


@define
class AuditedStore:
    """An `EvidenceStore` that logs each making."""

    _inner: Any
    _log: Log
    _at: Point = passed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def obtain(
        self, key: EvidenceKey, make: Callable[[Path], Extraction], progress: Progress = silent, *, readers: int = 0o444
    ) -> StoredEvidence:
        def logged(target: Path) -> Extraction:
            self._log.add("cut-begun", key)
            try:
                made = make(target)
                self._at("half cut")
            except BaseException:
                self._log.add("cut-failed", key)
                raise
            self._log.add("cut-made", key)
            return made

        stored: StoredEvidence = self._inner.obtain(key, logged, progress, readers=readers)
        return stored


@define
class AuditedMapper:
    """A `Mapper` that logs each mapping."""

    _inner: Any
    _log: Log
    _at: Point = passed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        self._log.add("map-begun", source.digest)
        try:
            made: ResourceMap = self._inner.map(source, resource_id, progress)
            self._at("mapped")
        except BaseException:
            self._log.add("map-failed", source.digest)
            raise
        self._log.add("map-made", source.digest)
        return made


def audited(home: Path, log: Log, at: Point = passed, *, limit: int | None = None, grace: float = 10.0) -> CiteKit:
    """CiteKit on a home, its store at most `limit` bytes; who was given evidence may use it for `grace` seconds."""
    from citekit.adapters.storage.evidence_files import FileEvidenceStore
    from citekit.container import bootstrap
    from citekit.settings import settings_from

    settings = settings_from({**os.environ, "CITEKIT_EMBEDDER": "hashing", "CITEKIT_MAPPER": "local"}, home)
    settings = settings if limit is None else evolve(settings, cache_limit=limit)
    plain = bootstrap(settings)
    folder = settings.cache_folder / "evidence"
    store = FileEvidenceStore(folder, plain.index, settings.cache_limit, grace=grace)
    made = CiteKit(home)
    made.app = bootstrap(settings, evidence=AuditedStore(store, log, at), mapper=AuditedMapper(plain.mapper, log, at))
    return made
