"""Defines the kinds of resources and locations."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Modality(StrEnum):
    """The kind of a resource or location. The enum value is used in stored maps, and `scheme` is used in addresses."""

    DOCUMENT = "document"
    VIDEO = "video"
    AUDIO = "audio"
    IMAGE = "image"
    TEXT = "text"
    VIRTUAL = "virtual"

    @property
    def scheme(self) -> str:
        """The scheme of addresses: `doc` for documents, otherwise the enum value."""
        return "doc" if self is Modality.DOCUMENT else self.value

    @classmethod
    def from_scheme(cls, scheme: str) -> Modality | None:
        """Return the modality of an address scheme, or None if it is unknown. Case is ignored (RFC 3986)."""
        return _BY_SCHEME.get(scheme.lower())


_BY_SCHEME = {modality.scheme: modality for modality in Modality}

RECORDINGS = (Modality.VIDEO, Modality.AUDIO)
"""The modalities whose locations are times. Whether a file is video or audio depends on its streams."""


class HasModality(Protocol):
    """Any location. Classes of locations use this type instead of the union `Location`, which imports all of them."""

    @property
    def modality(self) -> Modality:
        """The kind of the location."""


BY_DIGEST = (Modality.DOCUMENT, Modality.TEXT, Modality.IMAGE)
"""The modalities in which only the bytes of a mapped file determine its text. The text of a recording may come from a
subtitle file.
"""
