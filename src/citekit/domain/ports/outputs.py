"""Lays evidence where a person finds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.evidence import Receipt, StoredEvidence
from citekit.domain.ports.locks import patiently


class Outputs(Protocol):
    """Two different evidences never share a path. What lies at a path is what its receipt says."""

    def place(
        self,
        evidence: StoredEvidence,
        receipt: Receipt,
        name: str,
        owner: str | None = None,
        waiting: Callable[[], object] = patiently,
    ) -> Path:
        """The absolute path `<output folder>/<name><suffix>`, a link to or a copy of the evidence, with its receipt kept.

        `owner` says in words of its own what was asked for, such as a node, which keeps its name when its place changes;
        by default it is the address. A file that was edited, or shows older content of the same owner, is replaced. Where
        the name belongs to another owner or form, it gets a suffix that tells them apart. Raises `HomeUnwritable`, and
        `EvidenceCorrupt` where the object is gone or damaged: obtain it again. `waiting` is called now and then while
        another caller lays something under the same name; what that raises ends the wait.
        """

    def is_unchanged(self, path: Path, evidence: StoredEvidence, receipt: Receipt) -> bool:
        """Whether `place`, which gave that path for them before, would give it again without writing.

        Costs a look at the states of files; False where they would have to be read.
        """

    def receipt(self, path: Path) -> Receipt | None:
        """The receipt of a file that `place` laid there, or None."""

    def receipt_of(self, digest: Digest) -> Receipt | None:
        """A receipt of evidence whose bytes have that digest, wherever a copy of it lies now, or None."""
