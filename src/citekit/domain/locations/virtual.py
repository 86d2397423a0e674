"""A location that is not in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from citekit.domain.errors import LocationMalformed
from citekit.domain.extent import Extent
from citekit.domain.modality import Modality

if TYPE_CHECKING:
    from citekit.domain.locations import Location


@frozen
class Virtual:
    """A reference that is only passed on, such as `virtual://anything` or an identifier in another system."""

    modality: ClassVar[Modality] = Modality.VIRTUAL

    virtual_address: str

    def __attrs_post_init__(self) -> None:
        if not self.virtual_address or not self.virtual_address.isprintable():
            raise LocationMalformed("a virtual address is a line of printable text")

    def contains(self, other: Location) -> bool:
        """Whether `other` is the same reference: nothing is known of its inside."""
        return self == other

    def overlaps(self, other: Location) -> bool:
        """Whether `other` is the same reference."""
        return self == other

    def clamp(self, bounds: Extent) -> Virtual:
        """This reference: it has no extent."""
        return self
