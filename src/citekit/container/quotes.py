"""Creates the service that provides the texts in which quotes are searched for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.container.lazy_proxy import lazy
from citekit.container.names import QUOTABLE

if TYPE_CHECKING:
    from citekit.adapters.sandbox.worker_pool import WorkerPool
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.object_store import ObjectStore
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.sources import Sources
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber
    from citekit.domain.source import Source


@frozen
class QuoteServices:
    """The services that are needed to read the texts in which quotes are searched for.

    The functions `texts`, `probe`, and `workers` create a service. They are called only if a text is not cached.
    `ocr_version` returns the version of the OCR that `texts` uses, or an empty string, `transcriber` the transcriber,
    and `screen_reader` the reader of text in videos, or None. With `objects`, texts are shared with other machines.
    """

    cache_folder: Path
    texts: Callable[[], TextReader]
    probe: Callable[[], MediaProbe]
    extractors: Sequence[Extractor]
    sources: Sources
    workers: Callable[[], WorkerPool | None]
    ocr_version: Callable[[], str]
    drawn_pages: Callable[[Source, Sequence[int]], Mapping[int, str]]
    transcriber: Callable[[], Transcriber | None]
    screen_reader: Callable[[], ScreenReader | None]
    objects: ObjectStore | None = None
    aligns: bool = False


def quotable_texts(services: QuoteServices) -> QuotableTexts:
    """Return the service that provides the texts in which quotes are searched for, and caches them in the home."""
    from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
    from citekit.adapters.quotes.cache import KeptQuotableTexts
    from citekit.adapters.quotes.texts import Beside, QuotableTextReader

    texts, probe = lazy(services.texts), lazy(services.probe)
    here = QuotableTextReader(
        texts,
        probe,
        Beside(find_sidecar, read_cues),
        services.extractors,
        services.ocr_version,
        services.drawn_pages,
        services.transcriber,
        services.screen_reader,
        services.aligns,
    )
    reader = lazy(lambda: _in_worker(services, here))
    if services.objects is not None:
        from citekit.adapters.quotes.shared import SharedQuotableTexts

        reader = SharedQuotableTexts(reader, services.objects, services.sources.is_unchanged)
    folder = services.cache_folder / QUOTABLE
    return KeptQuotableTexts(reader, folder, is_unchanged=services.sources.is_unchanged)


def _in_worker(services: QuoteServices, here: QuotableTexts) -> QuotableTexts:
    """Return a service that works like `here`, but reads in a worker each file for which `is_quoted_in_worker` is true.

    If there are no workers, return `here`.
    """
    workers = services.workers()
    if workers is None:
        return here
    from citekit.adapters.quotes.stored_form import from_plain
    from citekit.adapters.sandbox.sandboxed_readers import IsolatedQuotableTexts
    from citekit.container.parsers import is_quoted_in_worker

    return IsolatedQuotableTexts(here, workers, is_quoted_in_worker, from_plain)
