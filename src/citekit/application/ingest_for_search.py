"""Maps a file, and indexes its text, so that it can be searched at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from attrs import frozen

from citekit.application.ingest import Ingest, Ingested
from citekit.domain.errors import Cancelled, CiteKitError
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap


class Index(Protocol):
    """Makes sure that the text of a resource is in an index, such as `IndexText.unless_known`."""

    def __call__(self, resource_map: ResourceMap, *, progress: Progress) -> object:
        """Index the text unless it is already indexed. Raise `CiteKitError` if it cannot be read or stored."""


@frozen
class IngestForSearch:
    """Maps a file, and indexes the text of a new map.

    If `index` fails, the first search tries again and says why. The file is mapped in the context `announced`, which
    records that its text is read next.
    """

    ingest: Ingest
    index: Index
    announced: Callable[[], AbstractContextManager[None]] = nullcontext

    def __call__(
        self,
        path: Path,
        *,
        wanted_id: str | None = None,
        modality: Modality | None = None,
        force: bool = False,
        progress: Progress = silent,
    ) -> Ingested:
        """Map the file at `path` with the arguments and errors of `Ingest`, and index the text of a new map.

        If the indexing is canceled, the map remains, and `Cancelled` is raised.
        """
        with self.announced():
            made = self.ingest(path, wanted_id=wanted_id, modality=modality, force=force, progress=progress)
        if made.mapped_now:
            self._index(made.resource_map, progress)
        return made

    def _index(self, resource_map: ResourceMap, progress: Progress) -> None:
        try:
            self.index(resource_map, progress=progress)
        except Cancelled:
            raise
        except CiteKitError:
            pass
