"""The format handler for video and audio files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class MediaHandler(NativeHandler):
    """Handles video and audio files.

    They have no text reader: quotes are searched for in subtitles, in recognized speech, and in text on the screen.
    """

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.media.outline.outliner import MediaOutliner

        return MediaOutliner(services.probe, lambda: services.transcriber, lambda: services.screen_reader)

    def measure(self, path: Path, services: Services) -> Extent:
        """See `FormatHandler.measure`. The extent is the duration in seconds and, for video, the size in pixels."""
        facts = services.probe.probe(path)
        return Extent(seconds=facts.duration, size=facts.size)

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        return None

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"clips": _clips, "ffmpeg": _ffmpeg, "stills": _stills, "transcripts": _transcripts}


def _clips(_: Services) -> Extractor:
    from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor

    return PyAvClipExtractor()


def _ffmpeg(_: Services) -> Extractor:
    from citekit.adapters.formats.media.evidence.ffmpeg_program import FfmpegExtractor

    return FfmpegExtractor()


def _stills(_: Services) -> Extractor:
    from citekit.adapters.formats.media.evidence.still import PyAvStillExtractor

    return PyAvStillExtractor()


def _transcripts(services: Services) -> Extractor:
    from citekit.adapters.formats.media.evidence.transcript import TranscriptExtractor

    return TranscriptExtractor(services.probe, lambda: services.transcriber, lambda: services.screen_reader)


HANDLER = MediaHandler()
