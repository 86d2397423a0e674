"""Reads the content of evidence that this home created, for programs that cannot open its files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError, ReceiptMissing
from citekit.domain.evidence import Receipt
from citekit.domain.ports.evidence_store import EvidenceStore
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.outputs import Outputs

TEXT_LIMIT = 4_000
"""The maximum length of an inline text in characters."""

BINARY_LIMIT = 512 * 1024
"""The maximum size of an inline picture or recording in bytes."""

WIDTHS = 64, 1600
"""The smallest and the largest limit, in pixels, for the longer side of a reduced picture."""

LINKED_SIZE = 2**20
"""The minimum size in bytes of evidence for which a link to the shared store is made."""

_TEXTS = ("application/json", "application/xml", "application/javascript", "application/x-ndjson")

Picture = Callable[[Path, int], tuple[bytes, str]]
"""Returns an encoded copy of a picture, at most the given number of pixels wide and high, and its media type."""


class Kind(StrEnum):
    """How a client can show content."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"


@frozen(kw_only=True)
class InlineContent:
    """Content of evidence that fits into an answer. `note` says how it differs from the evidence, if it does."""

    kind: Kind
    data: bytes = field(repr=False)
    media_type: str
    note: str = ""


@frozen
class EvidenceContent:
    """Reads evidence by its digest, if this home created it and its source was in one of the `folders`."""

    store: EvidenceStore
    outputs: Outputs
    picture: Picture
    folders: Folders

    def receipt(self, digest: Digest) -> Receipt:
        """Return a receipt of the evidence. Raise `ReceiptMissing` if there is none that `folders` allow, or the
        evidence is no longer stored.
        """
        receipt = self.permitted(digest)
        stored = self.store.find(receipt.key)
        if stored is None or stored.digest != digest:
            raise _missing(digest)
        return receipt

    def permitted(self, digest: Digest) -> Receipt:
        """Return a receipt of the evidence, even if its bytes are no longer stored. Raise `ReceiptMissing` if there is
        none that `folders` allow.
        """
        receipt = self.outputs.receipt_of(digest, lambda each: self.folders.covers(Path(each.source_path)))
        if receipt is None:
            raise _missing(digest)
        return receipt

    def link(self, receipt: Receipt, seconds: int) -> str | None:
        """Return a URL in the shared store at which anybody can read the evidence for `seconds`.

        Return None for less than `LINKED_SIZE` bytes, or if the store provides no URL.
        """
        return self.store.link(receipt.evidence_digest, seconds) if receipt.evidence_size >= LINKED_SIZE else None

    def read(self, receipt: Receipt, start: int, end: int) -> bytes:
        """Return the bytes of the evidence from the offset `start` up to `end`.

        Raise `ReceiptMissing` if the evidence was removed, or if all of its bytes are read and they do not match the
        receipt.
        """
        data = self.store.read(receipt.key, start, end - start)
        if data is None or (len(data) == receipt.evidence_size and Digest.of_bytes(data) != receipt.evidence_digest):
            raise _missing(receipt.evidence_digest)
        return data

    def inline(self, receipt: Receipt, width: int | None = None) -> InlineContent | None:
        """Return the content of evidence that is a text, a picture (not SVG), or an audio recording of at most
        `BINARY_LIMIT` bytes; otherwise None.

        A long text is truncated. A picture that is too large, or wider or higher than `width` pixels (limited to
        `WIDTHS`), is reduced. None is also returned if the evidence was removed or a picture cannot be reduced.
        """
        media_type = receipt.media_type
        if is_text(media_type):
            return self._text(receipt)
        if media_type.startswith("image/") and not media_type.startswith("image/svg"):
            return self._image(receipt, width)
        if media_type.startswith("audio/") and receipt.evidence_size <= BINARY_LIMIT:
            data = self.store.read(receipt.key, 0, BINARY_LIMIT)
            return None if data is None else InlineContent(kind=Kind.AUDIO, data=data, media_type=media_type)
        return None

    def _text(self, receipt: Receipt) -> InlineContent | None:
        data = self.store.read(receipt.key, 0, 4 * TEXT_LIMIT + 4)
        if data is None:
            return None
        text = data.decode("utf-8", "ignore" if len(data) < receipt.evidence_size else "replace")
        shown = text[:TEXT_LIMIT]
        if len(shown) == len(text) and len(data) == receipt.evidence_size:
            return InlineContent(kind=Kind.TEXT, data=data, media_type=receipt.media_type)
        shown = shown[: shown.rfind("\n") + 1] or shown
        size = len(shown.encode())
        note = f"Only the first {size:,} of {receipt.evidence_size:,} bytes are shown."
        return InlineContent(kind=Kind.TEXT, data=shown.encode(), media_type=receipt.media_type, note=note)

    def _image(self, receipt: Receipt, width: int | None) -> InlineContent | None:
        if width is None and receipt.evidence_size <= BINARY_LIMIT:
            data = self.store.read(receipt.key, 0, BINARY_LIMIT)
            return None if data is None else InlineContent(kind=Kind.IMAGE, data=data, media_type=receipt.media_type)
        found = self.store.find(receipt.key)
        side = WIDTHS[1] if width is None else min(max(width, WIDTHS[0]), WIDTHS[1])
        while found is not None and side >= WIDTHS[0]:
            try:
                data, media_type = self.picture(found.path, side)
            except Cancelled:
                raise
            except CiteKitError:  # a picture that cannot be reduced is still evidence
                return None
            if len(data) <= BINARY_LIMIT:
                note = f"This is a copy of at most {side} x {side} pixels."
                return InlineContent(kind=Kind.IMAGE, data=data, media_type=media_type, note=note)
            side //= 2
        return None


def _missing(digest: Digest) -> ReceiptMissing:
    return ReceiptMissing(
        f"This home has no evidence with the digest {digest.hex}. It may have been removed from the cache. "
        "Resolve the part again."
    )


def is_text(media_type: str) -> bool:
    """Return whether evidence of this type can be shown as text."""
    name = media_type.partition(";")[0].strip()
    return name.startswith("text/") or name in _TEXTS
