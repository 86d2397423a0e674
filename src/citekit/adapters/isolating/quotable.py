"""Makes the texts of files ready for quotes in a child: not only the parsing, but also the work on long texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.errors import FaultyAnswer
from citekit.domain.locations import Pages
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source
from citekit.wire.failures import CAUSE_LIMIT
from citekit.wire.parsed import manuscript_from, plain_source


@frozen
class IsolatedQuotableTexts:
    """Reads as `here` would: in a child if the file `is_apart`, else here. `from_plain` reads one text of its answer."""

    here: QuotableTexts
    children: Children
    is_apart: Callable[[Source], bool]
    from_plain: Callable[[dict[str, object]], Quotable]

    def version(self, source: Source) -> str:
        """See `QuotableTexts.version`."""
        return self.here.version(source)

    def region(self, source: Source, place: Pages) -> Quotable:
        """See `QuotableTexts.region`."""
        return self.here.region(source, place)

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """See `QuotableTexts.read`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_apart(source):
            return self.here.read(source, progress)
        found = self.children.ask("quotable", source.path, {"source": plain_source(source)}, progress)
        if not isinstance(found, list) or not found:
            raise FaultyAnswer("texts for quotes", ["$: is not a list of texts"])
        return [self._text(each) for each in found]

    def _text(self, plain: Any) -> Quotable:
        """One text of the answer. Raises `FaultyAnswer` for what is none: a child may have been taken over by the file."""
        manuscript_from(plain if isinstance(plain, dict) else {})
        try:
            text = self.from_plain(plain)
        except (ValueError, KeyError, TypeError, OverflowError) as wrong:
            raise FaultyAnswer("texts for quotes", [f"$: {wrong}"[:CAUSE_LIMIT]]) from wrong
        if not text.is_sound:
            raise FaultyAnswer("texts for quotes", ["starts: do not lie in the text, one behind the other"])
        return text
