"""Defines the port for outputs: copies of evidence with readable names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.evidence import Receipt, StoredEvidence
from citekit.domain.ports.locks import wait_silently


def any_receipt(receipt: Receipt) -> bool:  # noqa: ARG001
    """Allow every receipt."""
    return True


class Outputs(Protocol):
    """Writes outputs and keeps their receipts."""

    def place(
        self,
        evidence: StoredEvidence,
        receipt: Receipt,
        name: str,
        owner: str | None = None,
        waiting: Callable[[], object] = wait_silently,
    ) -> Path:
        """Write the evidence to `<output folder>/<name><suffix>` as a link or a copy, and return the absolute path.

        The receipt is stored as well. `owner`, by default the address, identifies the request, such as a node, so that
        its file name stays the same when its location changes. A file that was edited, or that has older content of the
        same owner, is replaced. If another owner or form uses the name, the new file gets a distinguishing suffix.
        `waiting` is called repeatedly while another caller writes a file with the same name; if it raises an exception,
        the wait ends. Raise `HomeUnwritable` if the file cannot be written, or `EvidenceCorrupt` if the stored object
        is missing or damaged and must be obtained again.
        """

    def is_unchanged(self, path: Path, evidence: StoredEvidence, receipt: Receipt) -> bool:
        """Return whether the output at `path` is up to date, so that calling `place` again would write nothing.

        `path` is an earlier result of `place` for the same arguments. This checks only the status of files; the result
        is False if their content would have to be read.
        """

    def receipt(self, path: Path) -> Receipt | None:
        """Return the receipt of the file at `path`, even if the file was edited, or None if `place` did not write it."""

    def receipt_of(self, digest: Digest, is_allowed: Callable[[Receipt], bool] = any_receipt) -> Receipt | None:
        """Return a receipt of the evidence with the given digest that `is_allowed` accepts, or None if none is stored.

        The output may have been moved or deleted.
        """
