"""`MapperProvider` of citekit 0.2: the base class of custom mappers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from citekit.compat.models import ResourceMap


class MapperProvider(ABC):
    """Subclass this and write `generate_map`; name the file with `citekit ingest --mapper FILE.py`."""

    @abstractmethod
    async def generate_map(self, resource_path: str, resource_type: str, resource_id: str | None = None) -> ResourceMap:
        """The map of the file at `resource_path`."""
