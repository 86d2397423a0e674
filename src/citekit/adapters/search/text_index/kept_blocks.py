"""Keeps the blocks that were read last, so that searches of the same texts do not decode them again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from attrs import define, field

from citekit.adapters.search.text_index.stored_form import from_bytes
from citekit.domain.text_search.blocks import TextBlock

KEPT_CHARACTERS = 2 * 1024 * 1024
"""The maximum number of characters in the texts of the blocks that are kept. Their words take about as much again."""


@define
class KeptBlocks:
    """A cache of blocks by their stored bytes. `limit` is the maximum size in characters."""

    limit: int = KEPT_CHARACTERS
    _kept: OrderedDict[bytes, TextBlock] = field(factory=OrderedDict, init=False, repr=False)
    _size: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False)

    def of(self, data: bytes) -> TextBlock:
        """Return the block that `to_bytes` converted to `data`, which must come from a trusted source."""
        with self._lock:
            block = self._kept.get(data)
            if block is not None:
                self._kept.move_to_end(data)
                return block
        block = from_bytes(data)
        self._keep(data, block)
        return block

    def _keep(self, data: bytes, block: TextBlock) -> None:
        with self._lock:
            if data in self._kept:
                return
            self._kept[data] = block
            self._size += len(block.text)
            while self._size > self.limit:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest.text)
