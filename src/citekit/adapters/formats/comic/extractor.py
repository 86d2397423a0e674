"""Extracts pages of a comic: the unchanged image, a region of it, a smaller comic of several pages, or a PDF."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from citekit.adapters.formats.comic.archive import ComicArchive, open_comic
from citekit.adapters.formats.image.extractor import PillowExtractor
from citekit.adapters.libraries import pillow
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, translated
from citekit.adapters.system.files import writing
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed, FormUnsupported, LocationOutside, SourceUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Box, Location, Pages
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

PDF_LIMIT = 500
"""The maximum number of pages in a PDF made of pictures."""

_MEDIA_TYPE = "application/vnd.comicbook+zip"
_WHOLE = Box(0, 0, 1, 1)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_PDF_FORMATS = ("jpeg", "png", "gif", "bmp", "tiff", "jpeg2000")
"""Formats that MuPDF reads. Other pictures are converted to PNG."""


class CbzExtractor:
    """Extracts pages of comics.

    In native form, a page is a copy of its image, and several pages are a CBZ.
    """

    identity = ExtractorIdentity("cbz", "2")

    def __init__(self) -> None:
        self._pictures = PillowExtractor()

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. The forms are native, PNG (one page only), and PDF (whole pages only)."""
        if format.name != "cbz" or not isinstance(location, Pages):
            return ()
        if location.region is not None:
            return (Form.NATIVE, Form.PNG)
        return (Form.NATIVE, Form.PNG, Form.PDF) if len(location.numbers) == 1 else (Form.NATIVE, Form.PDF)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. Also raise `SourceUnreadable` if the comic cannot be read."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            known = ", ".join(form.value for form in self.forms(source.format, location)) or "none"
            raise FormUnsupported(
                f"This part of a comic cannot be extracted as {options.form.value}. Valid forms: {known}."
            )
        with open_comic(source.path) as comic:
            if location.numbers[-1] > len(comic.names):
                raise LocationOutside.beyond("page", location.numbers[-1], "comic", len(comic.names))
            if options.form is Form.PDF:
                return self._write_pdf(comic, location, target, progress)
            if len(location.numbers) > 1:
                return _write_cbz(comic, location, target, progress)
            if location.region is None and options.form is Form.NATIVE:
                return _copy_picture(comic, location, target)
            return self._crop(comic, location, options, target)

    def _crop(self, comic: ComicArchive, location: Pages, options: Options, target: Path) -> Extraction:
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            page = _page_file(comic, location.numbers[0], Path(folder))
            crop = self._pictures.extract(page, location.region or _WHOLE, options, target)
        region = crop.extent if location.region is not None and isinstance(crop.extent, Box) else None
        return evolve(crop, extent=Pages(location.numbers, region))

    def _write_pdf(self, comic: ComicArchive, location: Pages, target: Path, progress: Progress) -> Extraction:
        """Write a PDF with one page per image. A page measures as many points as its image has pixels."""
        if len(location.numbers) > PDF_LIMIT:
            raise FormUnsupported(
                f"A PDF of a comic can have at most {PDF_LIMIT} pages. Request fewer pages, or the native form."
            )
        with (
            tempfile.TemporaryDirectory(prefix="citekit-") as folder,
            exclusive() as pymupdf,
            translated(comic.path, ExtractionFailed),
        ):
            document = pymupdf.open()
            for done, number in enumerate(location.numbers):
                progress(done, len(location.numbers), "adding pages")
                self._add_page(document, comic, number, Path(folder))
            with writing(target):
                target.write_bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))
        return Extraction(suffix=".pdf", media_type="application/pdf", extent=location)

    def _add_page(self, document: Document, comic: ComicArchive, number: int, folder: Path) -> None:
        page = _page_file(comic, number, folder)
        with pillow.open_image(page.path, failure=ExtractionFailed) as picture:
            width, height = pillow.upright_size(picture)
        if page.format.name not in _PDF_FORMATS:
            png = folder / f"{number}.converted.png"
            self._pictures.extract(page, _WHOLE, Options(Form.PNG), png)
            page = evolve(page, path=png)
        pdf_page = document.new_page(width=width, height=height)
        pdf_page.insert_image(pdf_page.rect, filename=str(page.path))
        page.path.unlink()


def _read_picture(comic: ComicArchive, number: int) -> tuple[bytes, Format]:
    """Return the image of a page and its detected format. Raise `SourceUnsupported` if the file is not an image."""
    data = comic.read(number)
    format = detect(comic.names[number - 1], data[:HEAD_SIZE])
    if format is None or format.modality is not Modality.IMAGE:
        raise SourceUnsupported(f"Page {number} of {comic.path.name} ({comic.names[number - 1]!r}) is not a picture.")
    return data, format


def _page_file(comic: ComicArchive, number: int, folder: Path) -> Source:
    """Write the image of a page to a file in `folder`, and return it as a source."""
    data, format = _read_picture(comic, number)
    path = folder / f"page-{number}{format.suffix}"
    path.write_bytes(data)
    return Source(path, Digest.of_bytes(data), len(data), format)


def _copy_picture(comic: ComicArchive, location: Pages, target: Path) -> Extraction:
    data, format = _read_picture(comic, location.numbers[0])
    with writing(target):
        target.write_bytes(data)
    return Extraction(suffix=format.suffix, media_type=format.media_type, extent=location)


def _write_cbz(comic: ComicArchive, location: Pages, target: Path, progress: Progress) -> Extraction:
    """Write a CBZ of the unchanged images. The same pages always give the same bytes."""
    with writing(target), zipfile.ZipFile(target, "x", zipfile.ZIP_STORED) as output:
        for done, number in enumerate(location.numbers):
            progress(done, len(location.numbers), "copying pages")
            suffix = comic.names[number - 1].rpartition(".")[2].lower()
            item = zipfile.ZipInfo(f"{number:05}.{suffix}", _FIXED_TIME)
            item.external_attr = 0o644 << 16
            output.writestr(item, comic.read(number))
    return Extraction(suffix=".cbz", media_type=_MEDIA_TYPE, extent=location)
