"""Identifies the mapper that made a map."""

from __future__ import annotations

from typing import Self

from attrs import frozen


@frozen
class MapperIdentity:
    """The name, version, and model of a mapper.

    `version` must change if the same bytes result in a different map. `model` is None if the mapper uses no model.
    """

    name: str
    version: str
    model: str | None = None

    def __str__(self) -> str:
        return ":".join(part for part in (self.name, self.model, self.version) if part)

    def to_metadata(self) -> dict[str, str]:
        """Return the identity for the metadata of a map. `model` is left out if it is None."""
        plain = {"name": self.name, "version": self.version}
        return plain if self.model is None else {**plain, "model": self.model}

    @classmethod
    def from_metadata(cls, value: object) -> Self | None:
        """Return the identity that `to_metadata` wrote, or None if `value` has another form."""
        match value:
            case {"name": str(name), "version": str(version), **rest}:
                model = rest.get("model")
                return cls(name, version, model if isinstance(model, str) else None)
        return None


EDITED = MapperIdentity("edited", "1")
"""The mapper of maps that a person corrected. Their `structure_by` is the mapper before the corrections."""
