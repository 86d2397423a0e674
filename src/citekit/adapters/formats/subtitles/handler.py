"""The format handler for subtitle files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from citekit.adapters.formats.handler import Services, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor


class SubtitlesHandler(TextHandler):
    """A format handler for subtitle files that are mapped without their recording."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.subtitles.outliner import SubtitlesOutliner

        return SubtitlesOutliner(services.plain_outliner())

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"subtitles": _subtitles}


def _subtitles(_: Services) -> Extractor:
    from citekit.adapters.formats.shared.line_extractor import TextExtractor
    from citekit.adapters.formats.shared.line_parts import LinePartExtractor
    from citekit.adapters.formats.subtitles.part import dialogue_part, subtitles_part
    from citekit.domain.evidence import ExtractorIdentity

    parts = {"subtitles": subtitles_part, "ssa": dialogue_part}
    return LinePartExtractor(ExtractorIdentity("subtitle-lines", "1"), parts, TextExtractor())


HANDLER = SubtitlesHandler()
