"""How the texts are read in which quotes are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citekit.container.lazy_proxy import Late
from citekit.container.names import QUOTABLE

if TYPE_CHECKING:
    from citekit.container.container import App
    from citekit.domain.ports.quotable_texts import QuotableTexts


def quotable_texts(app: App) -> QuotableTexts:
    """The texts of files, kept in the cache folder of the home."""
    from citekit.adapters.formats.subtitles.parser import beside, read_cues
    from citekit.adapters.quotes.cache import KeptQuotableTexts
    from citekit.adapters.quotes.texts import Beside, QuotableTextReader

    texts: Any = Late(lambda: app.parsers.written)  # a text that is kept needs neither
    probe: Any = Late(lambda: app.probe)
    here = QuotableTextReader(texts, probe, Beside(beside, read_cues), app.extractors)
    reader: Any = Late(lambda: _isolated(app, here))
    return KeptQuotableTexts(reader, app.settings.cache_folder / QUOTABLE, is_unchanged=app.sources.is_unchanged)


def _isolated(app: App, here: QuotableTexts) -> QuotableTexts:
    """The same, read in a child where that is needed."""
    children = app.children
    if children is None:
        return here
    from citekit.adapters.quotes.stored_form import from_plain
    from citekit.adapters.sandbox.sandboxed_readers import IsolatedQuotableTexts
    from citekit.container.parsers import is_quoted_apart

    return IsolatedQuotableTexts(here, children, is_quoted_apart, from_plain)
