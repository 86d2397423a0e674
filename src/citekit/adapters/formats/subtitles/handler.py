"""The format handler for subtitle files."""

from __future__ import annotations

from citekit.adapters.formats.handler import Services, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class SubtitlesHandler(TextHandler):
    """A format handler for subtitle files that are mapped on their own, without the recording that they belong to."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.subtitles.outliner import SubtitlesOutliner

        return SubtitlesOutliner(services.plain_outliner())


HANDLER = SubtitlesHandler()
