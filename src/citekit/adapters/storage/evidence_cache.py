"""Evidence that was asked for lately, in memory, as long as its files look as they did."""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict

from attrs import field, frozen

from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.domain.evidence import EvidenceKey, StoredEvidence

REMEMBERED = 8192
"""Pieces of evidence that are kept; the least recently asked for go first."""


@frozen
class HotEvidence:
    """What the index said about a piece of evidence."""

    stored: StoredEvidence
    record: EvidenceRecord
    _path: str = field(init=False)

    @_path.default
    def _path_of(self) -> str:
        return str(self.stored.path)

    def is_current(self) -> bool:
        """Whether the object's file still looks as it did when its bytes were last known to be right."""
        try:
            status = os.lstat(self._path)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and self.record.matches(status)


class HotEvidences:
    """The last `REMEMBERED`, by their keys."""

    def __init__(self) -> None:
        self._hot: OrderedDict[str, HotEvidence] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: EvidenceKey) -> HotEvidence | None:
        """What is known of it, whether or not it still holds."""
        name = key.digest.hex
        hot = self._hot.get(name)
        if hot is not None:
            with self._lock:
                if name in self._hot:
                    self._hot.move_to_end(name)
        return hot

    def keep(self, stored: StoredEvidence, record: EvidenceRecord) -> None:
        """Keep what was found."""
        with self._lock:
            self._hot[stored.key.digest.hex] = HotEvidence(stored, record)
            self._hot.move_to_end(stored.key.digest.hex)
            while len(self._hot) > REMEMBERED:
                self._hot.popitem(last=False)
