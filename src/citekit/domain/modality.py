"""Defines the kinds of resources and locations."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Modality(StrEnum):
    """The kind of a resource or location. Stored maps use the value, and addresses use `scheme`."""

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
"""The modalities whose locations are times."""


class HasModality(Protocol):
    """Any location. The classes of locations use this type because the module that defines the union `Location` imports
    all of them.
    """

    @property
    def modality(self) -> Modality:
        """The kind of the location."""


BY_DIGEST = (Modality.DOCUMENT, Modality.TEXT, Modality.IMAGE)
"""The modalities in which the bytes of a file determine its text. The text of a recording may come from a subtitle
file.
"""
