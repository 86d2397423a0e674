"""What kind of thing a resource, or a place in it, is."""

from __future__ import annotations

from enum import StrEnum


class Modality(StrEnum):
    """The value is the word of the written form; `scheme` the word of the address."""

    DOCUMENT = "document"
    VIDEO = "video"
    AUDIO = "audio"
    IMAGE = "image"
    TEXT = "text"
    VIRTUAL = "virtual"

    @property
    def scheme(self) -> str:
        """The address scheme: `doc` for documents, else the same word."""
        return "doc" if self is Modality.DOCUMENT else self.value

    @classmethod
    def from_scheme(cls, scheme: str) -> Modality | None:
        """The modality of an address scheme, or None where the scheme is unknown. Case does not matter (RFC 3986)."""
        return _BY_SCHEME.get(scheme.lower())


_BY_SCHEME = {modality.scheme: modality for modality in Modality}
