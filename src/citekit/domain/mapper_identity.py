"""Who made a map."""

from __future__ import annotations

from typing import Self

from attrs import frozen


@frozen
class MapperIdentity:
    """The same bytes mapped by the same identity are never mapped twice.

    `version` changes whenever the same bytes would give another map; `model` is None for a mapper without one.
    """

    name: str
    version: str
    model: str | None = None

    def __str__(self) -> str:
        return ":".join(part for part in (self.name, self.model, self.version) if part)

    def to_metadata(self) -> dict[str, str]:
        """The plain form that stands in a map's metadata."""
        plain = {"name": self.name, "version": self.version}
        return plain if self.model is None else {**plain, "model": self.model}

    @classmethod
    def from_metadata(cls, value: object) -> Self | None:
        """The identity that `to_metadata` wrote, or None where `value` is something else."""
        match value:
            case {"name": str(name), "version": str(version), **rest}:
                model = rest.get("model")
                return cls(name, version, model if isinstance(model, str) else None)
        return None
