"""The local mapper, which derives a map from the file alone, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.formats.handler import Services
from citekit.adapters.formats.registry import handler_of
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, Outline, make_nodes, one_line
from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.ports.clock import Clock
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

VERSION = "20"
"""Changes whenever the same bytes would result in a different map."""


@frozen
class LocalMapper:
    """A mapper that uses the outliner for the file's format, without a model.

    If it finds no structure in a text, the plain-text outliner is used. `services` provides the outliners and what they
    share, such as OCR.
    """

    services: Services
    clock: Clock

    @property
    def identity(self) -> MapperIdentity:
        """The identity of the mapper. Its version shows whether OCR and a transcriber are used, because the maps
        differ.
        """
        ocr = "" if self.services.ocr_reader is None else "+ocr3"
        return MapperIdentity("local", f"{VERSION}{ocr}{'+speech1' if self.services.has_transcriber else ''}")

    def supports(self, format: Format) -> bool:
        """Return whether the format is that of a file: only virtual resources have no outliner."""
        return format.modality is not Modality.VIRTUAL

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return the subtitle file next to a video or audio file; empty if there is none."""
        if source.format.modality not in (Modality.VIDEO, Modality.AUDIO):
            return ()
        from citekit.adapters.formats.subtitles.parser import find_sidecar

        found = find_sidecar(source.path)
        return () if found is None else (found,)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`."""
        outline = handler_of(source.format).outliner(source.format, self.services).outline(source, progress)
        if not outline.items and source.format.modality is Modality.TEXT:
            plain = self.services.plain_outliner().outline(source, progress)
            outline = evolve(plain, facts={**outline.facts, **plain.facts}, notes=[*outline.notes, *plain.notes])
        return ResourceMap(
            resource_id=resource_id,
            modality=_modality(source, outline),
            title=one_line(outline.title or source.path.stem, TITLE_LIMIT) or source.path.name,
            source_path=str(source.path),
            nodes=make_nodes(outline),
            created_at=self.clock.now(),
            metadata=self._metadata(source, outline),
        )

    def _metadata(self, source: Source, outline: Outline) -> Mapping[str, object]:
        notes = {"notes": list(outline.notes)} if outline.notes else {}
        return {
            "source_hash": source.digest.hex,
            "source_size": source.size,
            "format": source.format.name,
            "mapper": self.identity.to_metadata(),
            **_extent(outline),
            **outline.facts,
            **notes,
        }


def _modality(source: Source, outline: Outline) -> Modality:
    """Return the modality of the map. For video and audio formats, it is the modality of the first node.

    A video file may have no picture, and an audio file may have one.
    """
    timed = source.format.modality in (Modality.VIDEO, Modality.AUDIO)
    return outline.items[0].location.modality if timed and outline.items else source.format.modality


def _extent(outline: Outline) -> dict[str, object]:
    """Return the extent of an outline as metadata of a map, such as `page_count`, without unknown values."""
    extent = outline.extent
    found: dict[str, object] = {"page_count": extent.pages, "line_count": extent.lines, "duration": extent.seconds}
    if extent.size is not None:
        found["dimensions"] = list(extent.size)
    if extent.chapters is not None:
        found["chapter_lengths"] = list(extent.chapters)
    return {name: value for name, value in found.items() if value is not None}
