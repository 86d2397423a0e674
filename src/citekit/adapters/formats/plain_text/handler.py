"""The format handler for plain text, and the extractor of lines that all text formats share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from citekit.adapters.formats.handler import Services, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor


class PlainTextHandler(TextHandler):
    """A format handler for text without markup."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.plain_text.chat import ChatOutliner

        return ChatOutliner(services.plain_outliner())

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"lines": _lines}


def _lines(_: Services) -> Extractor:
    from citekit.adapters.formats.shared.line_extractor import TextExtractor

    return TextExtractor()


HANDLER = PlainTextHandler()
