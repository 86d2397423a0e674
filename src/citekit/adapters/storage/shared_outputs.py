"""Outputs whose receipts are shared with other machines through an object store.

Each of several servers can then report the origin of evidence that another one extracted. A receipt is the object
`receipts/DIGEST/HASH`, with a hash of the receipt, because the same bytes can be evidence of several files.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import Receipt, StoredEvidence
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.locks import wait_silently
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.ports.outputs import Outputs, any_receipt
from citekit.wire import receipts

AREA = "receipts"
REMEMBERED = 8192
"""The maximum number of shared receipts that a process remembers."""

READ_AT_MOST = 50
"""The maximum number of receipts of the same bytes that are read to find an allowed one."""


@frozen
class SharedOutputs:
    """`Outputs` with files on this machine and receipts that other machines can read, too."""

    local: Outputs
    objects: ObjectStore
    _shared: OrderedDict[ObjectKey, None] = field(factory=OrderedDict, init=False, eq=False, repr=False)

    def place(
        self,
        evidence: StoredEvidence,
        receipt: Receipt,
        name: str,
        owner: str | None = None,
        waiting: Callable[[], object] = wait_silently,
    ) -> Path:
        """See `Outputs.place`. Raise `StoreUnavailable` if the receipt cannot be shared."""
        path = self.local.place(evidence, receipt, name, owner, waiting)
        key = _key(receipt)
        if key not in self._shared:
            self.objects.put(key, _data(receipt))
            self._shared[key] = None
            while len(self._shared) > REMEMBERED:
                self._shared.popitem(last=False)
        return path

    def is_unchanged(self, path: Path, evidence: StoredEvidence, receipt: Receipt) -> bool:
        """See `Outputs.is_unchanged`."""
        return self.local.is_unchanged(path, evidence, receipt)

    def receipt(self, path: Path) -> Receipt | None:
        """See `Outputs.receipt`."""
        return self.local.receipt(path)

    def receipt_of(self, digest: Digest, is_allowed: Callable[[Receipt], bool] = any_receipt) -> Receipt | None:
        """See `Outputs.receipt_of`. If this machine has no such receipt, up to `READ_AT_MOST` shared ones are read."""
        found = self.local.receipt_of(digest, is_allowed)
        if found is not None:
            return found
        for each in islice(self.objects.listing(_folder(digest)), READ_AT_MOST):
            shared = self._read(each.key)
            if shared is not None and shared.evidence_digest == digest and is_allowed(shared):
                return shared
        return None

    def _read(self, key: ObjectKey) -> Receipt | None:
        data = self.objects.read(key)
        try:
            return None if data is None else receipts.from_plain(json.loads(data), str(key))
        except (ValueError, RecursionError, FaultyAnswer):
            return None


def _data(receipt: Receipt) -> bytes:
    return json.dumps(receipts.to_plain(receipt), sort_keys=True).encode()


def _key(receipt: Receipt) -> ObjectKey:
    """Return the key of a receipt. Receipts that differ only in the time have the same key."""
    same = _data(evolve(receipt, created=receipt.created.min.replace(tzinfo=receipt.created.tzinfo)))
    return ObjectKey(f"{_folder(receipt.evidence_digest)}/{hashlib.sha256(same).hexdigest()[:16]}")


def _folder(digest: Digest) -> str:
    return str(ObjectKey.of_content(AREA, digest))
