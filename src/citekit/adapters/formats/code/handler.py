"""The format handler for source code in all supported languages."""

from __future__ import annotations

from citekit.adapters.formats.handler import Services, Task, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class CodeHandler(TextHandler):
    """Handles source code: outlines a program from its syntax tree, and otherwise treats it as text."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`. Outlining does, because tree-sitter grammars are compiled."""
        return task is Task.OUTLINE

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.code.outliner import CodeOutliner

        return CodeOutliner()


HANDLER = CodeHandler()
