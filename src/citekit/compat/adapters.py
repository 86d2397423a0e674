"""Provides the adapters of citekit 0.2, which were in `citekit.adapters`."""

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
    """The base class of adapters, which convert data of other programs to maps. Subclasses implement `adapt`."""

    @abstractmethod
    def adapt(self, input_data: Any, **kwargs: Any) -> ResourceMap:
        """Return a map made from `input_data`, which is the path of a file or folder, or plain data (lists and
        dictionaries).
        """


class _AdapterOfToday(MapAdapter):
    """A current importer with the interface of citekit 0.2."""

    name: ClassVar[str]
    resource_id: ClassVar[str]
    title: ClassVar[str | None] = None

    def adapt(self, input_data: Any, **kwargs: Any) -> ResourceMap:
        """Return a map made from `input_data`: the path of a file or folder (text or `Path`), or plain data.

        The keyword arguments `title` and `resource_id` override those of the map. `source` is the path of the file that
        the data describe. Raise `ValueError` if the data are in another format, and `FileNotFoundError` if a file is
        missing or unreadable.
        """
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
    """Imports maps whose form is similar to CiteKit's stored maps."""

    name = "generic"
    resource_id = "generic_import"


class GraphRAGAdapter(_AdapterOfToday):
    """Imports the output of GraphRAG."""

    name = "graphrag"
    resource_id = "graphrag_import"
    title = "GraphRAG Import"

    def _path(self, data: object) -> str:
        return str(data) if isinstance(data, Path) else "virtual"


class LlamaIndexAdapter(_AdapterOfToday):
    """Imports nodes and document stores of LlamaIndex."""

    name = "llamaindex"
    resource_id = "llamaindex_import"
    title = "LlamaIndex Import"


@contextmanager
def _old_errors() -> Iterator[None]:
    """Convert missing files to `FileNotFoundError`, and invalid or refused data to `ValueError`, as in citekit 0.2."""
    try:
        yield
    except SourceUnreadable as error:
        raise FileNotFoundError(str(error)) from error
    except (FaultyAnswer, Refused) as error:
        raise ValueError(str(error)) from error
