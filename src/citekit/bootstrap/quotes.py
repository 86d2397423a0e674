"""How the texts are read in which quotes are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citekit.bootstrap.late import Late
from citekit.bootstrap.names import QUOTABLE

if TYPE_CHECKING:
    from citekit.bootstrap.app import App
    from citekit.domain.ports.quotable_texts import QuotableTexts


def quotable_texts(app: App) -> QuotableTexts:
    """The texts of files, kept in the cache folder of the home."""
    from citekit.adapters.mapping.local.media.subtitles import beside, read_cues
    from citekit.adapters.reading.kept_quotable import KeptQuotableTexts
    from citekit.adapters.reading.quotable import Beside, QuotableTextReader

    texts: Any = Late(lambda: app.parsers.written)  # a text that is kept needs neither
    probe: Any = Late(lambda: app.probe)
    here = QuotableTextReader(texts, probe, Beside(beside, read_cues), app.extractors)
    reader: Any = Late(lambda: _isolated(app, here))
    return KeptQuotableTexts(reader, app.settings.cache_folder / QUOTABLE, still=app.sources.still)


def _isolated(app: App, here: QuotableTexts) -> QuotableTexts:
    """The same, read in a child where that is needed."""
    children = app.children
    if children is None:
        return here
    from citekit.adapters.isolating.quotable import IsolatedQuotableTexts
    from citekit.adapters.reading.quotable_form import from_plain
    from citekit.bootstrap.parsers import is_quoted_apart

    return IsolatedQuotableTexts(here, children, is_quoted_apart, from_plain)
