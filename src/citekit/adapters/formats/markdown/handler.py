"""The format handler for Markdown."""

from __future__ import annotations

from citekit.adapters.formats.handler import Services, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class MarkdownHandler(TextHandler):
    """Handles Markdown files: outlines them by their headings, and otherwise treats them as text."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.markdown.outliner import MarkdownOutliner

        return MarkdownOutliner(services.plain_outliner())


HANDLER = MarkdownHandler()
