"""What the index remembers about one piece of evidence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from attrs import evolve, frozen

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.wire import receipts


@frozen(kw_only=True)
class EvidenceRecord:
    """An object's digest, and what its file looked like when its bytes were last known to have that digest."""

    digest: Digest
    size: int
    mtime_ns: int
    inode: int
    extraction: Extraction
    created: datetime

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result, extraction: Extraction) -> Self:
        """The record of an object that was made just now."""
        return cls(
            digest=digest,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            inode=status.st_ino,
            extraction=extraction,
            created=datetime.now(UTC),
        )

    def matches(self, status: os.stat_result) -> bool:
        """Whether the file looks as it did: same size, time of change, and inode."""
        return (status.st_size, status.st_mtime_ns, status.st_ino) == (self.size, self.mtime_ns, self.inode)

    def seen(self, status: os.stat_result) -> Self:
        """The record after the bytes were read again and found to be right."""
        return evolve(self, size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)

    def stored(self, key: EvidenceKey, path: Path, *, made_now: bool) -> StoredEvidence:
        """The evidence it describes."""
        return StoredEvidence(
            key=key,
            path=path,
            digest=self.digest,
            size=self.size,
            extraction=self.extraction,
            created=self.created,
            made_now=made_now,
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data for the index."""
        return {
            "digest": self.digest.hex,
            "size": self.size,
            "mtime_ns": self.mtime_ns,
            "inode": self.inode,
            "extraction": receipts.extraction_to_plain(self.extraction),
            "created": self.created.isoformat(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | None) -> Self | None:
        """The record that `to_plain` wrote, or None where the data is anything else."""
        match plain:
            case {
                "digest": str(digest),
                "size": int(size),
                "mtime_ns": int(mtime_ns),
                "inode": int(inode),
                "created": str(created),
                "extraction": extraction,
            }:
                try:
                    return cls(
                        digest=Digest(digest),
                        size=size,
                        mtime_ns=mtime_ns,
                        inode=inode,
                        extraction=receipts.extraction_from_plain(extraction),
                        created=datetime.fromisoformat(created),
                    )
                except (ValueError, FaultyAnswer):
                    return None
        return None
