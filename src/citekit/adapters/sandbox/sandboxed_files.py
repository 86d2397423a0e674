"""Adapters that map, measure, import, and render untrusted files, and extract evidence, in a worker process."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, frozen

from citekit.adapters.sandbox.worker_pool import WorkerPool
from citekit.domain.errors import ExtractionFailed, SourceUnsupported, SpeechMissing
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.extractor import Extractor, identity_of
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.measurer import Measurer
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire.extent import from_plain
from citekit.wire.locations import to_plain
from citekit.wire.maps import from_plain_map
from citekit.wire.receipts import extraction_from_plain
from citekit.wire.worker_protocol import (
    invalid,
    pages_from,
    picture_from,
    plain_options,
    plain_source,
    rows_from,
    text_from,
    texts_from,
    truth_from,
)

T = TypeVar("T")


@frozen
class IsolatedMapper:
    """A mapper that runs in a worker if `is_apart` returns True for the file; otherwise, `here` maps it in this
    process.

    `transcriber` returns the transcriber that asks a service, or None. If `is_read_next` returns True, the worker also
    reads the text of a PDF.
    """

    here: Mapper
    workers: WorkerPool
    clock: Clock
    is_apart: Callable[[Source], bool]
    transcriber: Callable[[], Transcriber | None] = lambda: None
    is_read_next: Callable[[], bool] = lambda: False

    @property
    def identity(self) -> MapperIdentity:
        """The identity of `here`, because both make the same maps."""
        return self.here.identity

    def supports(self, format: Format) -> bool:
        """See `Mapper.supports`."""
        return self.here.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """See `Mapper.sidecar_files`."""
        return self.here.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`. Raise `SourceUnsupported` if the worker dies on the file."""
        if not self.is_apart(source):
            return self.here.map(source, resource_id, progress)
        asked = {"source": plain_source(source), "id": resource_id, "is_read_next": self.is_read_next()}
        made = _with_speech(
            lambda: self.workers.ask("map", source.path, asked, progress), self.transcriber, source, progress
        )
        found = from_plain_map(made, "map")
        return evolve(found, created_at=self.clock.now())


@frozen
class IsolatedExtractor:
    """An extractor that runs in a worker.

    `here` is the same extractor in this process, and `name` its name in the worker. `transcriber` is that of
    `IsolatedMapper`.
    """

    here: Extractor
    name: str
    workers: WorkerPool
    transcriber: Callable[[], Transcriber | None] = lambda: None

    @property
    def identity(self) -> ExtractorIdentity:
        """The identity of `here`, because both create the same output."""
        return self.here.identity

    def identity_for(self, source: Source) -> ExtractorIdentity:
        """See `DependentExtractor.identity_for`."""
        return identity_of(self.here, source)

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return self.here.forms(format, location)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. Raise `ExtractionFailed` if the worker dies on the file."""
        asked = {
            "extractor": self.name,
            "source": plain_source(source),
            "location": to_plain(location),
            "options": plain_options(options),
            "target": str(target),
        }
        made = _with_speech(
            lambda: self.workers.ask("extract", source.path, asked, progress, ExtractionFailed),
            self.transcriber,
            source,
            progress,
        )
        return extraction_from_plain(made)


@frozen
class IsolatedMeasurer:
    """A measurer that runs in a worker if the parser of the format is compiled code; otherwise, it calls `here`."""

    here: Measurer
    workers: WorkerPool
    is_compiled: Callable[[Format], bool]

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`. Raise `SourceUnsupported` if the worker dies on the file, or `FaultyAnswer` if its
        answer is invalid.
        """
        if not self.is_compiled(source.format):
            return self.here.measure(source)
        found = from_plain(self.workers.ask("measure", source.path, {"source": plain_source(source)}))
        if found is None:
            raise invalid("the extent")
        return found


@frozen
class IsolatedForeignFiles:
    """Reads, in a worker, the pages of PDFs and the rows of Parquet tables that are imported.

    Methods raise `SourceUnsupported` if the worker dies on the file.
    """

    workers: WorkerPool

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """See `ForeignFiles.pages`."""
        return pages_from(self.workers.ask("pages", path, {"path": str(path)}))

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, Any]]:
        """See `ForeignFiles.rows`."""
        return rows_from(self.workers.ask("rows", path, {"path": str(path), "columns": sorted(columns)}))


@frozen
class IsolatedViewer:
    """Renders PDFs, images, and video frames for a model in a worker.

    Methods raise `SourceUnsupported` if the worker dies on the file.
    """

    workers: WorkerPool

    def page_lines(self, path: Path, progress: Progress = silent) -> Sequence[Sequence[str]]:
        """See `Viewer.page_lines`."""
        pages = self.workers.ask("page_lines", path, {"path": str(path)}, progress)
        return [text.split("\n") if text else [] for text in texts_from(pages)]

    def page_texts(self, path: Path, progress: Progress = silent) -> Sequence[str]:
        """See `Viewer.page_texts`."""
        return texts_from(self.workers.ask("page_texts", path, {"path": str(path)}, progress))

    def paged_text(self, path: Path) -> str:
        """See `Viewer.paged_text`."""
        return text_from(self.workers.ask("paged_text", path, {"path": str(path)}))

    def cut_pages(self, path: Path, first: int, last: int, target: Path, progress: Progress = silent) -> None:
        """See `Viewer.cut_pages`. Raise `SourceUnsupported` if no file was written."""
        asked = {"path": str(path), "first": first, "last": last, "target": str(target)}
        self.workers.ask("cut_pages", path, asked, progress)
        if not _is_file(target):
            raise SourceUnsupported(f"{path.name} cannot be read: no pages could be extracted from it.")

    def is_upright(self, path: Path) -> bool:
        """See `Viewer.is_upright`."""
        return truth_from(self.workers.ask("is_upright", path, {"path": str(path)}))

    def picture(self, path: Path, side: int) -> tuple[bytes, str]:
        """See `Viewer.picture`."""
        return picture_from(self.workers.ask("picture", path, {"path": str(path), "side": side}))

    def still(self, source: Source, seconds: float) -> bytes:
        """Return the video frame at `seconds` as a JPEG. Raise `ExtractionFailed` if the worker dies on the file."""
        # The folder is created here, because a worker that is killed could not remove it.
        with tempfile.TemporaryDirectory(prefix="citekit-still-") as folder:
            asked = {"source": plain_source(source), "seconds": seconds, "folder": folder}
            return picture_from(self.workers.ask("still", source.path, asked, failure=ExtractionFailed))[0]


def _with_speech(
    ask: Callable[[], T], transcriber: Callable[[], Transcriber | None], source: Source, progress: Progress
) -> T:
    """Return the answer of a worker. If it lacks the words of the recording, ask the service, then the worker again.

    A worker has no network access, but finds the words in the cache. Raise `SpeechMissing` if the words are missing and
    the user did not choose a service.
    """
    try:
        return ask()
    except SpeechMissing:
        service = transcriber()
        if service is None:
            raise
        service.transcribe(source, progress)
        return ask()


def _is_file(path: Path) -> bool:
    """Return whether the path is a regular file. A hostile file could make a worker create a link instead."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
