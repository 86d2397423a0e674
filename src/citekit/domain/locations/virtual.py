"""Defines a location that does not refer to a file."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from citekit.domain.errors import LocationMalformed
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality


@frozen
class Virtual:
    """A reference that CiteKit does not interpret, such as an ID in another system.

    The constructor raises `LocationMalformed` if the reference is not one line of printable characters.
    """

    modality: ClassVar[Modality] = Modality.VIRTUAL

    virtual_address: str

    def __attrs_post_init__(self) -> None:
        if not self.virtual_address or not self.virtual_address.isprintable():
            raise LocationMalformed("a virtual address must be one line of printable characters")

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is the same reference."""
        return self == other

    def overlaps(self, other: HasModality) -> bool:
        """Return whether `other` is the same reference."""
        return self == other

    def clamp(self, extent: Extent) -> Virtual:
        """Return this reference unchanged, because it has no extent."""
        return self
