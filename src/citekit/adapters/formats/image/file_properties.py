"""Reads properties of image files that Pillow does not report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_HEAD = 8192
_BITS_PER_SAMPLE = 258
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I", "F"})
_NOTE = "The source has {bits} bits per color channel, but CiteKit decodes only 8 of them, so the crop has 8."


def depth_notes(path: Path, picture: Image) -> list[str]:
    """Return a note if the file has more bits per channel than the decoded image, or an empty list."""
    if picture.mode in _DEEP_MODES:
        return []
    bits = _bits_per_channel(_first_bytes(path), picture)
    return [_NOTE.format(bits=bits)] if bits > 8 else []


def webp_is_lossless(path: Path) -> bool:
    """Return whether the first frame of a WebP file is lossless: a `VP8L` chunk precedes any `VP8 ` chunk in the first
    8192 bytes.
    """
    head = _first_bytes(path)
    lossless, lossy = head.find(b"VP8L"), head.find(b"VP8 ")
    return lossless >= 0 and (lossy < 0 or lossless < lossy)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD)


def _bits_per_channel(head: bytes, picture: Image) -> int:
    if picture.format == "PNG":
        return head[24] if len(head) > 24 else 8
    if picture.format == "TIFF":
        tags = getattr(picture, "tag_v2", {})
        return max(int(bits) for bits in tags.get(_BITS_PER_SAMPLE, (8,)))
    if picture.format == "AVIF":
        return _avif_bits(head)
    return 8


def _avif_bits(head: bytes) -> int:
    """Return the bits per channel in the AV1 codec configuration record (AV1-ISOBMFF 2.3.3), or 8."""
    offset = head.find(b"av1C")
    if offset < 0 or len(head) < offset + 7 or not head[offset + 6] & 0x40:
        return 8
    return 12 if head[offset + 6] & 0x20 else 10
