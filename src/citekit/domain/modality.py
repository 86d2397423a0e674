"""The kinds of resources and locations."""

from __future__ import annotations

from enum import StrEnum


class Modality(StrEnum):
    """The kind of a resource or location. The value is the word in stored maps; `scheme` is the word in addresses."""

    DOCUMENT = "document"
    VIDEO = "video"
    AUDIO = "audio"
    IMAGE = "image"
    TEXT = "text"
    VIRTUAL = "virtual"

    @property
    def scheme(self) -> str:
        """The address scheme: `doc` for documents, otherwise the value."""
        return "doc" if self is Modality.DOCUMENT else self.value

    @classmethod
    def from_scheme(cls, scheme: str) -> Modality | None:
        """Return the modality of an address scheme, or None if it is unknown. Case is ignored (RFC 3986)."""
        return _BY_SCHEME.get(scheme.lower())


_BY_SCHEME = {modality.scheme: modality for modality in Modality}
