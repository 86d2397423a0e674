"""Indexes the text of a mapped file that is not indexed yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from attrs import frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.errors import RequestRefused, SourceChanged, SourceMoved
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.text_index import TextIndex
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import blocks_of


@frozen
class IndexText:
    """Makes sure that the text of a resource is in the text index."""

    locate: LocateSource
    texts: QuotableTexts
    index: TextIndex

    def unless_known(
        self, resource_map: ResourceMap, roots: Sequence[Path] = (), progress: Progress = silent
    ) -> tuple[str, str | None]:
        """Index the text of a resource unless its version in the index is current. See `__call__`."""
        known = self.index.versions([resource_map.resource_id]).get(resource_map.resource_id)
        return self(resource_map, known, roots, progress)

    def __call__(
        self, resource_map: ResourceMap, known: str | None, roots: Sequence[Path] = (), progress: Progress = silent
    ) -> tuple[str, str | None]:
        """Index the text of a resource unless `known`, its version in the index, is current.

        Return its version, and why its source is stale, or None. Raise the errors of reading its text, and
        `RequestRefused` if the index cannot be written.
        """
        try:
            source = self.locate(resource_map, roots)
        except (SourceChanged, SourceMoved) as error:
            digest = resource_map.source_digest
            if known is None or digest is None or not known.startswith(f"{digest} "):
                raise
            return known, str(error)
        version = f"{source.digest} {self.texts.version(source)}"
        if known != version:
            blocks = blocks_of(self.texts.read(source, progress))
            if not self.index.put(resource_map.resource_id, version, blocks):
                raise RequestRefused(
                    "The text index cannot be written. Check the free space and the permissions of the home, or map the "
                    f"file in another home (citekit ingest {quote(str(source.path))} --home DIR)."
                )
        return version, None
