"""Indexes the text of a mapped file that is not indexed yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from attrs import field, frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.errors import (
    RequestRefused,
    SourceChanged,
    SourceMoved,
    SourceSetAside,
    SourceUnsupported,
    in_a_note,
)
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.text_index import TextIndex
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import blocks_of

KEPT = 10_000
"""The maximum number of files whose lack of text is kept in memory."""


@frozen
class IndexText:
    """Makes sure that the text of a resource is in the text index.

    A file whose text is not supported is not read again by the same process, unless it changes.
    """

    locate: LocateSource
    texts: QuotableTexts
    index: TextIndex
    _unsupported: dict[str, SourceUnsupported] = field(factory=dict, init=False)
    """The errors by the version that the text would have."""

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
            return known, in_a_note(error)
        version = f"{source.digest} {self.texts.version(source)}"
        if known != version:
            if version in self._unsupported:
                raise self._unsupported[version].with_traceback(None)
            try:
                blocks = blocks_of(self.texts.read(source, progress))
            except SourceUnsupported as error:
                if not isinstance(error, SourceSetAside) and len(self._unsupported) < KEPT:
                    self._unsupported[version] = error
                raise
            if not self.index.put(resource_map.resource_id, version, blocks):
                raise RequestRefused(
                    "The text index cannot be written. Check the free space and the permissions of the home, or map the "
                    f"file in another home (citekit ingest {quote(str(source.path))} --home DIR)."
                )
        return version, None
