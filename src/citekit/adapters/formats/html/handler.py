"""The format handler for HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from citekit.adapters.formats.handler import Services, Task, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class HtmlHandler(TextHandler):
    """Handles HTML files, and extracts lines of XML files as text that browsers do not execute."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`. Outlining and reading text do, because the HTML parser is compiled."""
        return task in (Task.OUTLINE, Task.READ_TEXT)

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.html.outliner import HtmlOutliner

        return HtmlOutliner(services.plain_outliner())

    def text_reader(self, services: Services, *, marked: bool) -> TextReader:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        from citekit.adapters.formats.html.lines import HtmlLinesTextReader

        return HtmlLinesTextReader(as_seen=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"xml_lines": _xml_lines, "html_lines": _html_lines}


def _xml_lines(_: Services) -> Extractor:
    from citekit.adapters.formats.html.extractor import XmlLinesExtractor
    from citekit.adapters.formats.shared.line_extractor import TextExtractor

    return XmlLinesExtractor(TextExtractor())


def _html_lines(_: Services) -> Extractor:
    from citekit.adapters.formats.html.extractor import HtmlLinesExtractor
    from citekit.adapters.formats.html.part import html_part

    return HtmlLinesExtractor(html_part)


HANDLER = HtmlHandler()
