"""Shares quotable texts (the texts in which quotes are searched for) with other machines through an object store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from citekit.adapters.quotes.stored_form import from_plain, to_plain
from citekit.domain.digest import Digest
from citekit.domain.locations import Pages
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source

LIMIT = 256 * 2**20
"""Maximum size of a shared object, in bytes. Larger texts are not shared."""


@frozen
class SharedQuotableTexts:
    """Reads the texts of a source from the object store. If they are not there, `inner` reads them, and they are
    stored.

    Texts are not stored if they are larger than `LIMIT` or the source changes while it is read.
    """

    inner: QuotableTexts
    objects: ObjectStore
    is_unchanged: Callable[[Source], bool] = lambda _: True

    def version(self, source: Source) -> str:
        """See `QuotableTexts.version`."""
        return self.inner.version(source)

    def reader_version(self) -> str:
        """See `QuotableTexts.reader_version`."""
        return self.inner.reader_version()

    def region(self, source: Source, place: Pages) -> Quotable:
        """See `QuotableTexts.region`. The result is not shared."""
        return self.inner.region(source, place)

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """See `QuotableTexts.drawn`. The result is not shared."""
        return self.inner.drawn(source, pages)

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """See `QuotableTexts.read`. Also raise the errors of `ObjectStore`."""
        key = ObjectKey.of_content("texts", Digest.of_bytes(f"{source.digest} {self.version(source)}".encode()))
        stored = self._stored(key)
        if stored is not None:
            return stored
        found = self.inner.read(source, progress)
        if self.is_unchanged(source):
            plain = json.dumps([to_plain(each) for each in found], ensure_ascii=False, separators=(",", ":"))
            payload = plain.encode("utf-8", "surrogatepass")
            if len(payload) <= LIMIT:
                self.objects.put(key, hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
        return found

    def _stored(self, key: ObjectKey) -> Sequence[Quotable] | None:
        """Return the texts in the object; None if it does not exist or is damaged. A damaged object is removed."""
        data = self.objects.read(key)
        if data is None:
            return None
        code, _, payload = data.partition(b"\n")
        try:
            if code.decode("ascii") == hashlib.sha256(payload).hexdigest():
                return [from_plain(each) for each in json.loads(payload.decode("utf-8", "surrogatepass"))]
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            pass
        self.objects.remove(key)
        return None
