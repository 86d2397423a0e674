"""An embedder that caches the vectors of recent queries."""

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
    """An embedder that caches the query vectors of `embedder` in memory, for the last `size` different queries."""

    embedder: Embedder
    size: int = field(default=1024, validator=ge(1))
    _kept: OrderedDict[str, Vector] = field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False, eq=False)

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the wrapped embedder."""
        return self.embedder.identity

    @property
    def window(self) -> int:
        """The number of words per passage, as for the wrapped embedder."""
        return self.embedder.window

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`. The vectors are not cached."""
        return self.embedder.documents(texts, progress)

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. Errors are not cached."""
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
