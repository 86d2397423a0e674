"""The format handler for AsciiDoc, LaTeX, Org, and reStructuredText."""

from __future__ import annotations

from citekit.adapters.formats.handler import Services, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class MarkupHandler(TextHandler):
    """Handles markup text: outlines it by its section titles, and otherwise treats it as text."""

    def outliner(self, format: Format, services: Services) -> Outliner:
        """See `FormatHandler.outliner`. Raise `KeyError` if the format is not a markup language."""
        plain = services.plain_outliner()
        match format.name:
            case "asciidoc":
                from citekit.adapters.formats.markup.asciidoc import asciidoc

                return asciidoc(plain)
            case "org":
                from citekit.adapters.formats.markup.org import org

                return org(plain)
            case "latex":
                from citekit.adapters.formats.markup.latex import latex

                return latex(plain)
            case "rst":
                from citekit.adapters.formats.markup.rst import RstOutliner

                return RstOutliner(plain)
        raise KeyError(format.name)


HANDLER = MarkupHandler()
