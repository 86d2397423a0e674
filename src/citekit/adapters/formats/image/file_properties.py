"""What a picture file says of itself that Pillow does not pass on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_HEAD = 8192
_BITS_PER_SAMPLE = 258
_DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I", "F"})
_NOTE = "The source has {bits} bits in each colour channel; the crop has 8, which is all that can be decoded here."


def depth_notes(path: Path, picture: Image) -> list[str]:
    """A sentence where the picture has more bits in a channel than what is decoded of it."""
    if picture.mode in _DEEP_MODES:
        return []
    bits = _bits_per_channel(_first_bytes(path), picture)
    return [_NOTE.format(bits=bits)] if bits > 8 else []


def webp_is_lossless(path: Path) -> bool:
    """Whether a WebP file holds its first frame without loss (a `VP8L` chunk and no `VP8 ` before it)."""
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
    """From the flags of the AV1 codec configuration record (AV1-ISOBMFF 2.3.3)."""
    at = head.find(b"av1C")
    if at < 0 or len(head) < at + 7 or not head[at + 6] & 0x40:
        return 8
    return 12 if head[at + 6] & 0x20 else 10
