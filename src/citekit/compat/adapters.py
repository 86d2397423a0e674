"""The adapters of citekit 0.2, formerly in `citekit.adapters`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from citekit.compat.models import ResourceMap, map_of
from citekit.container import bootstrap
from citekit.domain.errors import FaultyAnswer, Refused, SourceUnreadable


class MapAdapter(ABC):
    """Base class of adapters. Subclasses implement `adapt`."""

    @abstractmethod
    def adapt(self, input_data: Any, **kwargs: Any) -> ResourceMap:
        """Return the map of `input_data`, which is a path or plain data."""


class _AdapterOfToday(MapAdapter):
    """A current importer with the interface of 0.2.

    `adapt` accepts `title`, `resource_id`, and `source`, the path of the file that the data describe. Raises
    `ValueError` for data in another format and `FileNotFoundError` for a missing file. The cause is CiteKit's error.
    """

    name: ClassVar[str]
    resource_id: ClassVar[str]
    title: ClassVar[str | None] = None

    def adapt(self, input_data: Any, **kwargs: Any) -> ResourceMap:
        """Return the map of the file or folder at a path (text or `Path`), or of plain data."""
        data = Path(input_data) if isinstance(input_data, str | Path) else input_data
        source, app = kwargs.get("source"), bootstrap()
        with _old_errors():
            known = None if source is None else app.sources.identify(Path(source))
            made = app.adapter_called(self.name).adapt(data, self.resource_id, known)
        plain = map_of(made)
        plain.resource_id = kwargs.get("resource_id", plain.resource_id)
        plain.title = kwargs.get("title", plain.title if known is not None else self.title or plain.title)
        plain.source_path = plain.source_path or self._path(data)
        return plain

    def _path(self, data: object) -> str:  # noqa: ARG002
        return "virtual"


class GenericAdapter(_AdapterOfToday):
    """Reads maps that are similar to the stored form."""

    name = "generic"
    resource_id = "generic_import"


class GraphRAGAdapter(_AdapterOfToday):
    """Reads the output of GraphRAG."""

    name = "graphrag"
    resource_id = "graphrag_import"
    title = "GraphRAG Import"

    def _path(self, data: object) -> str:
        return str(data) if isinstance(data, Path) else "virtual"


class LlamaIndexAdapter(_AdapterOfToday):
    """Reads nodes and docstores of LlamaIndex."""

    name = "llamaindex"
    resource_id = "llamaindex_import"
    title = "LlamaIndex Import"


@contextmanager
def _old_errors() -> Iterator[None]:
    """Raise the exceptions of 0.2, with CiteKit's errors as their causes."""
    try:
        yield
    except SourceUnreadable as error:
        raise FileNotFoundError(str(error)) from error
    except (FaultyAnswer, Refused) as error:
        raise ValueError(str(error)) from error
