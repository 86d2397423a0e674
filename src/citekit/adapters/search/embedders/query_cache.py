"""Remembers the vectors of the last questions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from attrs import define, field
from attrs.validators import ge

from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.ports.embedder import Embedder
from citekit.domain.progress import Progress, silent


@define
class CachingEmbedder:
    """`embedder`, with the vectors of the last `size` different questions in memory. Passages go through."""

    embedder: Embedder
    size: int = field(default=1024, validator=ge(1))
    _kept: OrderedDict[str, Vector] = field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False, eq=False)

    @property
    def identity(self) -> EmbedderIdentity:
        """The embedder's."""
        return self.embedder.identity

    @property
    def window(self) -> int:
        """The embedder's."""
        return self.embedder.window

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """The embedder's, not kept."""
        return self.embedder.documents(texts, progress)

    def query(self, text: str) -> Vector:
        """The vector of the question, as the embedder gave it; errors are not kept."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        vector = self.embedder.query(text)
        with self._lock:
            self._kept[text] = vector
            self._kept.move_to_end(text)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
        return vector
