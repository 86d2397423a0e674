"""The format handler for mail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from citekit.adapters.formats.epub.handler import BookHandler
from citekit.adapters.formats.handler import Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor


class MailHandler(BookHandler):
    """Handles messages and mailboxes, whose messages and attachments are chapters."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.mail.outliner import MailOutliner

        return MailOutliner(services.reader)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"mails": _mails}


def _mails(_: Services) -> Extractor:
    from citekit.adapters.formats.mail.extractor import MailExtractor

    return MailExtractor()


HANDLER = MailHandler()
