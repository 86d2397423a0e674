"""An in-memory cache of recently requested evidence, valid while the files are unchanged."""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict

from attrs import field, frozen

from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.domain.evidence import EvidenceKey, StoredEvidence

REMEMBERED = 8192
"""Maximum number of cached records; the least recently used is evicted first."""


@frozen
class HotEvidence:
    """A cached record of one piece of evidence."""

    stored: StoredEvidence
    record: EvidenceRecord
    _path: str = field(init=False)

    @_path.default
    def _path_of(self) -> str:
        return str(self.stored.path)

    def is_current(self) -> bool:
        """Return whether the object's file is unchanged since its bytes were last verified."""
        try:
            status = os.lstat(self._path)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and self.record.matches(status)


class HotEvidences:
    """The `REMEMBERED` most recently used records, by evidence key."""

    def __init__(self) -> None:
        self._hot: OrderedDict[str, HotEvidence] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: EvidenceKey) -> HotEvidence | None:
        """Return the cached record, which may be out of date."""
        name = key.digest.hex
        hot = self._hot.get(name)
        if hot is not None:
            with self._lock:
                if name in self._hot:
                    self._hot.move_to_end(name)
        return hot

    def keep(self, stored: StoredEvidence, record: EvidenceRecord) -> None:
        """Cache a record."""
        with self._lock:
            self._hot[stored.key.digest.hex] = HotEvidence(stored, record)
            self._hot.move_to_end(stored.key.digest.hex)
            while len(self._hot) > REMEMBERED:
                self._hot.popitem(last=False)
