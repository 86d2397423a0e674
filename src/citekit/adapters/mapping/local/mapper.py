"""The mapper that needs nothing but the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.mapping.local.outline import TITLE_LIMIT, Outline, Outliner, one_line, plant
from citekit.domain.formats import BOOKS, Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.drivers.sqlite_index import Index

VERSION = "1"
"""Changes whenever the same bytes would give another map."""

CODE = frozenset(
    {"python", "javascript", "typescript", "tsx", "java", "c", "cpp", "csharp", "go", "rust", "ruby", "php", "bash"}
)


@frozen
class LocalMapper:
    """Chooses the outliner of the file's format; one that finds no structure at all gives way to the plain one.

    `index` remembers of long PDFs what makes cutting them fast; None does without.
    """

    reader: Reader
    probe: MediaProbe
    clock: Clock
    identity: MapperIdentity = field(default=MapperIdentity("local", VERSION))
    index: Index | None = None

    def supports(self, format: Format) -> bool:
        """Whether there is an outliner for that format; there is one for every format that `detect` knows."""
        return format.modality is not Modality.VIRTUAL

    def beside(self, source: Source) -> Sequence[Path]:
        """The subtitles of a video or a recording."""
        if source.format.modality not in (Modality.VIDEO, Modality.AUDIO):
            return ()
        from citekit.adapters.mapping.local.media.subtitles import beside

        found = beside(source.path)
        return () if found is None else (found,)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The map of `source`; see `Mapper.map`."""
        outline = self._outliner(source.format).outline(source, progress)
        if not outline.drafts and source.format.modality is Modality.TEXT:
            outline = self._plain_text().outline(source, progress)
        return ResourceMap(
            resource_id=resource_id,
            modality=_modality(source, outline),
            title=one_line(outline.title or source.path.stem, TITLE_LIMIT) or source.path.name,
            source_path=str(source.path),
            nodes=plant(outline),
            created_at=self.clock.now(),
            metadata=self._metadata(source, outline),
        )

    def _metadata(self, source: Source, outline: Outline) -> Mapping[str, Any]:
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

    def _outliner(self, format: Format) -> Outliner:
        if format.name in CODE:
            return _code()
        if format.modality in (Modality.VIDEO, Modality.AUDIO):
            return self._media()
        if format.modality is Modality.IMAGE:
            return _image()
        return self._prose().get(format.name, self._plain_text)()

    def _prose(self) -> dict[str, Callable[[], Outliner]]:
        return {
            "pdf": self._pdf,
            **dict.fromkeys(BOOKS, self._epub),
            "markdown": self._markdown,
            "html": self._html,
            "rst": self._rst,
            "subtitles": self._subtitles,
        }

    def _media(self) -> Outliner:
        from citekit.adapters.mapping.local.media import MediaOutliner

        return MediaOutliner(self.probe)

    def _pdf(self) -> Outliner:
        from citekit.adapters.mapping.local.pdf import PdfOutliner

        return PdfOutliner(self.index)

    def _epub(self) -> Outliner:
        from citekit.adapters.mapping.local.epub import EpubOutliner

        return EpubOutliner(self.reader)

    def _markdown(self) -> Outliner:
        from citekit.adapters.mapping.local.markdown import MarkdownOutliner

        return MarkdownOutliner(self._plain_text())

    def _html(self) -> Outliner:
        from citekit.adapters.mapping.local.html import HtmlOutliner

        return HtmlOutliner(self._plain_text())

    def _rst(self) -> Outliner:
        from citekit.adapters.mapping.local.rst import RstOutliner

        return RstOutliner(self._plain_text())

    def _subtitles(self) -> Outliner:
        from citekit.adapters.mapping.local.subtitles import SubtitlesOutliner

        return SubtitlesOutliner(self._plain_text())

    def _plain_text(self) -> Outliner:
        from citekit.adapters.mapping.local.plain_text import PlainTextOutliner

        return PlainTextOutliner()


def _modality(source: Source, outline: Outline) -> Modality:
    """That of the format; but a video file without a picture, or a recording with one, is what its parts are."""
    timed = source.format.modality in (Modality.VIDEO, Modality.AUDIO)
    return outline.drafts[0].location.modality if timed and outline.drafts else source.format.modality


def _extent(outline: Outline) -> dict[str, Any]:
    """The bounds of an outline under the names that maps use for them."""
    bounds = outline.bounds
    found: dict[str, Any] = {"page_count": bounds.pages, "line_count": bounds.lines, "duration": bounds.seconds}
    if bounds.size is not None:
        found["dimensions"] = list(bounds.size)
    if bounds.chapters is not None:
        found["chapter_lengths"] = list(bounds.chapters)
    return {name: value for name, value in found.items() if value is not None}


def _code() -> Outliner:
    from citekit.adapters.mapping.local.code import CodeOutliner

    return CodeOutliner()


def _image() -> Outliner:
    from citekit.adapters.mapping.local.image import ImageOutliner

    return ImageOutliner()
