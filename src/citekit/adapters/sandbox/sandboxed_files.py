"""Adapters that map, extract, measure, import, and render untrusted files in a worker."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.sandbox.worker_pool import WorkerPool
from citekit.domain.errors import ExtractionFailed, SourceUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.measurer import Measurer
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire.extent import from_plain
from citekit.wire.locations import to_plain
from citekit.wire.maps import from_plain_map
from citekit.wire.receipts import extraction_from_plain
from citekit.wire.worker_protocol import (
    pages_from,
    picture_from,
    plain_options,
    plain_source,
    rows_from,
    text_from,
    texts_from,
    truth_from,
)


@frozen
class IsolatedMapper:
    """Maps as `here` would: in a child if the file `is_apart`, else here."""

    here: Mapper
    workers: WorkerPool
    clock: Clock
    is_apart: Callable[[Source], bool]

    @property
    def identity(self) -> MapperIdentity:
        """That of the mapper itself: where it runs makes no difference to its maps."""
        return self.here.identity

    def supports(self, format: Format) -> bool:
        """See `Mapper.supports`."""
        return self.here.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """See `Mapper.beside`."""
        return self.here.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_apart(source):
            return self.here.map(source, resource_id, progress)
        asked = {"source": plain_source(source), "id": resource_id}
        found = from_plain_map(self.workers.ask("map", source.path, asked, progress), "map")
        return evolve(found, created_at=self.clock.now())


@frozen
class IsolatedExtractor:
    """Cuts as `here` would, which a child knows as `name`."""

    here: Extractor
    name: str
    workers: WorkerPool

    @property
    def identity(self) -> ExtractorIdentity:
        """That of the extractor itself: where it runs makes no difference to the bytes."""
        return self.here.identity

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return self.here.forms(format, location)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`; raises `ExtractionFailed` where the child dies over the file."""
        asked = {
            "extractor": self.name,
            "source": plain_source(source),
            "location": to_plain(location),
            "options": plain_options(options),
            "target": str(target),
        }
        made = self.workers.ask("extract", source.path, asked, progress, ExtractionFailed)
        return extraction_from_plain(made)


@frozen
class IsolatedMeasurer:
    """Measures as `here` would: in a child where that takes a compiled parser (`is_compiled`), else here."""

    here: Measurer
    workers: WorkerPool
    is_compiled: Callable[[Format], bool]

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_compiled(source.format):
            return self.here.measure(source)
        found = from_plain(self.workers.ask("measure", source.path, {"source": plain_source(source)}))
        if found is None:
            raise SourceUnsupported(f"{source.path.name} cannot be measured.")
        return found


@frozen
class IsolatedForeignFiles:
    """Pages of PDFs, and tables in Parquet; raises `SourceUnsupported` where the child dies over the file."""

    workers: WorkerPool

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """The label of each page of a PDF, and its text."""
        return pages_from(self.workers.ask("pages", path, {"path": str(path)}))

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, Any]]:
        """The rows of a table, with those of `columns` that it has."""
        return rows_from(self.workers.ask("rows", path, {"path": str(path), "columns": sorted(columns)}))


@frozen
class IsolatedViewer:
    """What a model is shown of PDFs, pictures and films; raises `SourceUnsupported` where the child dies over the file."""

    workers: WorkerPool

    def page_lines(self, path: Path, progress: Progress = silent) -> Sequence[Sequence[str]]:
        """The lines of each page of a PDF."""
        pages = self.workers.ask("page_lines", path, {"path": str(path)}, progress)
        return [text.split("\n") if text else [] for text in texts_from(pages)]

    def page_texts(self, path: Path, progress: Progress = silent) -> Sequence[str]:
        """The beginning of the text of each page of a PDF."""
        return texts_from(self.workers.ask("page_texts", path, {"path": str(path)}, progress))

    def paged_text(self, path: Path) -> str:
        """The text of a whole PDF, with the numbers of its pages."""
        return text_from(self.workers.ask("paged_text", path, {"path": str(path)}))

    def cut_pages(self, path: Path, first: int, last: int, target: Path, progress: Progress = silent) -> None:
        """Write a PDF of just those pages to `target`, in a temporary folder."""
        asked = {"path": str(path), "first": first, "last": last, "target": str(target)}
        self.workers.ask("cut_pages", path, asked, progress)
        if not _is_file(target):
            raise SourceUnsupported(f"{path.name} cannot be read: no pages could be cut out of it.")

    def is_upright(self, path: Path) -> bool:
        """Whether a picture is stored as it is seen."""
        return truth_from(self.workers.ask("is_upright", path, {"path": str(path)}))

    def picture(self, path: Path) -> tuple[bytes, str]:
        """A picture upright, and its media type."""
        return picture_from(self.workers.ask("picture", path, {"path": str(path)}))

    def still(self, source: Source, seconds: float) -> bytes:
        """The picture that a film shows then, as a JPEG; raises `ExtractionFailed` where the child dies over the file."""
        with tempfile.TemporaryDirectory(prefix="citekit-still-") as folder:  # here: who is killed tidies up nothing
            asked = {"source": plain_source(source), "seconds": seconds, "folder": folder}
            return picture_from(self.workers.ask("still", source.path, asked, failure=ExtractionFailed))[0]


def _is_file(path: Path) -> bool:
    """Whether that is a file itself: a child that was taken over may have laid something else there."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
