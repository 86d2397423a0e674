"""The port for outputs: copies of evidence with readable names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.evidence import Receipt, StoredEvidence
from citekit.domain.ports.locks import wait_silently


class Outputs(Protocol):
    """Writes outputs. Two different pieces of evidence never have the same path, and a file always matches its receipt."""

    def place(
        self,
        evidence: StoredEvidence,
        receipt: Receipt,
        name: str,
        owner: str | None = None,
        waiting: Callable[[], object] = wait_silently,
    ) -> Path:
        """Write the evidence to `<output folder>/<name><suffix>` as a link or a copy, store its receipt, and return the
        absolute path.

        `owner` identifies the request, such as a node, so that it keeps its file name when its location changes. The
        default is the address. A file that was edited, or that has older content of the same owner, is replaced. If
        another owner or form has the name, the new file gets a distinguishing suffix. Raises `HomeUnwritable`, and
        `EvidenceCorrupt` if the object is missing or damaged: obtain it again. `waiting` is called repeatedly while
        another caller writes a file with the same name, and an exception from it ends the wait.
        """

    def is_unchanged(self, path: Path, evidence: StoredEvidence, receipt: Receipt) -> bool:
        """Return whether `place`, which returned that path for the same arguments before, would return it again without
        writing.

        Checks only the status of files. Returns False if their content would have to be read.
        """

    def receipt(self, path: Path) -> Receipt | None:
        """Return the receipt of a file that `place` wrote, or None."""

    def receipt_of(self, digest: Digest) -> Receipt | None:
        """Return a receipt of evidence with that digest, wherever its copy is now, or None."""
