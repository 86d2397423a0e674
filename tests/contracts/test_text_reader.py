"""What every TextReader promises, of small files of every kind that are made here."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import frozen

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.epub.extractor import EpubExtractor
from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pptx.extractor import SlideExtractor
from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.adapters.formats.text_reader import FormatTextReader
from citekit.adapters.formats.xlsx.extractor import CellsExtractor
from citekit.adapters.sources.filesystem import FileSources
from citekit.container.parsers import Parsers
from citekit.domain.errors import Cancelled, SourceUnreadable, SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import by_name
from citekit.domain.library.extracted_text import UnitKind
from citekit.domain.library.located_text import LocatedText
from citekit.domain.source import Source
from tests.formats.epub.books import write_book
from tests.formats.html.visible import letters, visible
from tests.formats.mobi.kindle import write_fb2, write_mobi
from tests.formats.office.office_files import paragraph, write_docx, write_sheets

PARAGRAPHS = [
    [
        "Loomings",
        "Call me Ishmael. Some years ago, never mind how long.",
        "It is a way I have of driving off the spleen.",
    ],
    [
        "The Carpet-Bag",
        "I stuffed a shirt or two into my old carpet-bag & started.",
        "Too expensive and jolly, again thought I.",
    ],
    [
        "Nantucket",
        "Nothing more happened on the passage; so, after a fine run, we safely arrived.",
        "Café, naïve, fiancée.",
    ],
]
WORDS = "".join("".join(chapter) for chapter in PARAGRAPHS)


def pdf(path: Path) -> Path:
    import pymupdf

    document = pymupdf.open()
    for chapter in PARAGRAPHS:
        page = document.new_page()
        for row, words in enumerate(chapter):
            page.insert_text((72, 72 + 40 * row), words, fontname="helv")
    document.save(path)
    return path


def marked(chapter: Sequence[str]) -> str:
    escaped = [each.replace("&", "&amp;") for each in chapter]
    return f"<h1>{escaped[0]}</h1>\n<p>{escaped[1]}</p>\n<p>{escaped[2]}</p>\n"


def epub(path: Path) -> Path:
    return write_book(path, [marked(each) for each in PARAGRAPHS])


def mobi(path: Path) -> Path:
    return write_mobi(path, [marked(each) for each in PARAGRAPHS])


def fb2(path: Path) -> Path:
    sections = "".join(
        f"<section><title><p>{title}</p></title><p>{first}</p><p>{second}</p></section>"
        for title, first, second in ([each.replace("&", "&amp;") for each in chapter] for chapter in PARAGRAPHS)
    )
    return write_fb2(path, f"<body>{sections}</body>")


def txt(path: Path) -> Path:
    path.write_text("\n\n".join("\n".join(each) for each in PARAGRAPHS) + "\n", encoding="utf-8", newline="\r\n")
    return path


def markdown(path: Path) -> Path:
    chapters = [f"# {title}\n\n*{first}*\n\n> - {second}\n" for title, first, second in PARAGRAPHS]
    path.write_text("---\ntitle: Whales\n---\n" + "\n".join(chapters), encoding="utf-8")
    return path


def rst(path: Path) -> Path:
    chapters = [f"{title}\n{'=' * 20}\n\n**{first}**\n\n* {second}\n" for title, first, second in PARAGRAPHS]
    path.write_text("\n".join(chapters), encoding="utf-8")
    return path


def html(path: Path) -> Path:
    body = "".join(marked(each) for each in PARAGRAPHS)
    path.write_text(
        f"<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>x</title></head>\n<body>{body}</body></html>"
    )
    return path


def srt(path: Path) -> Path:
    said = [line for chapter in PARAGRAPHS for line in chapter]
    cues = [f"{n}\n00:00:{n:02},000 --> 00:00:{n + 1:02},000\n<i>{line}</i>\n" for n, line in enumerate(said, 1)]
    path.write_text("\n".join(cues), encoding="utf-8")
    return path


def docx(path: Path) -> Path:
    return write_docx(path, "".join(paragraph(a, "Heading1") + paragraph(b) + paragraph(c) for a, b, c in PARAGRAPHS))


def pptx(path: Path) -> Path:
    from pptx import Presentation

    deck = Presentation()
    for title, first, second in PARAGRAPHS:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = f"{first}\n{second}"
    deck.save(str(path))
    return path


def xlsx(path: Path) -> Path:
    """All on one sheet: a place never reaches over several."""
    cells: dict[str, str] = {}
    for row, (title, first, second) in zip((2, 5, 9), PARAGRAPHS, strict=True):
        cells |= {f"B{row}": title, f"C{row + 1}": first, f"D{row + 1}": second}
    return write_sheets(path, {"Whales": cells})


@frozen
class Kind:
    """A kind of file: who makes one, what its units are, and how an independent tool reads it."""

    name: str
    make: Callable[[Path], Path]
    unit: UnitKind


KINDS = [
    Kind("whales.pdf", pdf, UnitKind.PAGE),
    Kind("whales.epub", epub, UnitKind.CHAPTER),
    Kind("whales.mobi", mobi, UnitKind.CHAPTER),
    Kind("whales.fb2", fb2, UnitKind.CHAPTER),
    Kind("whales.docx", docx, UnitKind.CHAPTER),
    Kind("whales.pptx", pptx, UnitKind.PAGE),
    Kind("whales.xlsx", xlsx, UnitKind.ROW),
    Kind("whales.txt", txt, UnitKind.LINE),
    Kind("whales.md", markdown, UnitKind.LINE),
    Kind("whales.rst", rst, UnitKind.LINE),
    Kind("whales.html", html, UnitKind.LINE),
    Kind("whales.srt", srt, UnitKind.LINE),
]
EXTRACTORS = (
    PyMuPdfExtractor(), TextExtractor(), EpubExtractor(AnyBookReader()), SlideExtractor(), CellsExtractor()
)  # fmt: skip


def text_reader() -> FormatTextReader:
    return FormatTextReader(Parsers())


@pytest.fixture
def reader() -> FormatTextReader:
    return text_reader()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    folder = tmp_path_factory.mktemp("shelf")
    return {kind.name: FileSources().identify(kind.make(folder / kind.name)) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
class TestEveryReader:
    @pytest.fixture
    def source(self, shelf: dict[str, Source], kind: Kind) -> Source:
        return shelf[kind.name]

    def test_all_text_is_there_once_and_in_order(self, reader: FormatTextReader, source: Source, kind: Kind) -> None:
        extracted_text = reader.read(source)

        assert letters(WORDS) == letters(extracted_text.text)
        assert kind.unit is extracted_text.kind

    def test_units_rise_and_do_not_overlap(self, reader: FormatTextReader, source: Source, kind: Kind) -> None:
        units = reader.read(source).units

        assert all(one.end <= two.start and one.number <= two.number for one, two in pairwise(units))
        assert all(0 <= unit.start < unit.end for unit in units)
        assert units[0].number >= 1

    def test_what_stands_between_units_is_white_space(
        self, reader: FormatTextReader, source: Source, kind: Kind
    ) -> None:
        extracted_text = reader.read(source)

        inside = "".join(extracted_text.text[unit.start : unit.end] for unit in extracted_text.units)

        assert letters(extracted_text.text) == letters(inside)

    @pytest.mark.long
    def test_the_cut_of_any_place_holds_the_words_of_its_range(
        self, reader: FormatTextReader, source: Source, kind: Kind, tmp_path: Path
    ) -> None:
        extracted_text = reader.read(source)

        for start, end in some_ranges(extracted_text):
            location = extracted_text.locate(start, end)
            shown = cut(source, location, tmp_path / f"{start}-{end}")

            assert letters(extracted_text.text[start:end]) in letters(shown)

    def test_the_span_of_a_place_holds_the_range(self, reader: FormatTextReader, source: Source, kind: Kind) -> None:
        extracted_text = reader.read(source)

        for start, end in some_ranges(extracted_text):
            span = extracted_text.span_of(extracted_text.locate(start, end))

            assert span is not None
            assert letters(extracted_text.text[start:end]) in letters(extracted_text.text[span[0] : span[1]])

    def test_it_reads_the_same_twice_and_leaves_the_source(
        self, reader: FormatTextReader, source: Source, kind: Kind
    ) -> None:
        before = source.path.read_bytes()

        one, two = reader.read(source), reader.read(source)

        assert one == two
        assert before == source.path.read_bytes()

    def test_facts_raise_nothing_and_hold_no_blanks(self, reader: FormatTextReader, source: Source, kind: Kind) -> None:
        facts = reader.facts(source)

        assert facts.title is None or facts.title.strip() == facts.title != ""
        assert all(author.strip() for author in facts.authors)
        assert facts.language is None or re.fullmatch("[a-z]{2,3}", facts.language)

    def test_a_cancelled_reading_stops(self, reader: FormatTextReader, source: Source, kind: Kind) -> None:
        def stop(done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("enough")

        with pytest.raises(Cancelled):
            reader.read(source, stop)

    def test_a_missing_file_is_unreadable(
        self, reader: FormatTextReader, source: Source, kind: Kind, tmp_path: Path
    ) -> None:
        path = shutil.copy(source.path, tmp_path / kind.name)
        gone = FileSources().identify(Path(path))
        Path(path).unlink()

        with pytest.raises((SourceUnreadable, SourceUnsupported)):
            reader.read(gone)


def some_ranges(extracted_text: LocatedText) -> list[tuple[int, int]]:
    """Words, sentences, everything: ranges that hold something."""
    size = len(extracted_text.text)
    wanted = [(0, size), *((at, min(size, at + length)) for length in (3, 60) for at in range(0, size - 1, 37))]
    return [(start, end) for start, end in dict.fromkeys(wanted) if extracted_text.text[start:end].strip()]


def cut(source: Source, location: object, target: Path) -> str:
    """The text of what the extractor makes of a place; of HTML lines and Markdown, without what is markup there."""
    options = Options(form=Form.TEXT)
    extractor = next(each for each in EXTRACTORS if each.forms(source.format, location))  # type: ignore[arg-type]
    extractor.extract(source, location, options, target)  # type: ignore[arg-type]
    text = target.read_text(encoding="utf-8")
    if source.format.name == "xlsx":
        return "".join("".join(row) for row in csv.reader(text.splitlines()))
    if source.format.name in ("html", "subtitles"):
        lines = (line for line in text.splitlines() if not re.match(r"\d+$|.*-->", line))
        return "".join(visible("\n".join(lines)).pieces)
    return re.sub(r"(?m)^# |^> - |^=+$|^\* |\*", "", text)


def test_the_pdf_reader_agrees_with_another_engine(reader: FormatTextReader, shelf: dict[str, Source]) -> None:
    import pypdfium2

    source = shelf["whales.pdf"]
    with pypdfium2.PdfDocument(source.path) as document:
        expected = [letters(page.get_textpage().get_text_range()) for page in document]

    extracted_text = reader.read(source)

    assert expected == [letters(extracted_text.text[unit.start : unit.end]) for unit in extracted_text.units]


def test_what_holds_no_text_is_refused_by_name(reader: FormatTextReader, tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "dot.png"
    Image.new("RGB", (2, 2)).save(path)
    source = FileSources().identify(path)

    assert not reader.supports(source.format)
    with pytest.raises(SourceUnsupported, match=r"dot\.png \(png\)"):
        reader.read(source)


@pytest.mark.parametrize(
    "name",
    [
        "a.pdf",
        "a.epub",
        "a.azw3",
        "a.fb2",
        "a.docx",
        "a.pptx",
        "a.xlsx",
        "a.txt",
        "a.md",
        "a.rst",
        "a.html",
        "a.py",
        "a.csv",
    ],
)
def test_it_supports_everything_that_holds_text(reader: FormatTextReader, name: str) -> None:
    format = by_name(name)

    assert format is not None
    assert reader.supports(format)


@pytest.mark.corpus
def test_real_books_are_read_whole(reader: FormatTextReader, corpus: Path) -> None:
    books = AnyBookReader()
    for path in [*sorted((corpus / "book").glob("*.epub")), corpus / "book" / "sample.fb2"]:
        extracted_text = reader.read(FileSources().identify(path))

        chapters = [chapter.text for chapter in books.read(path).chapters]

        assert chapters == [extracted_text.text[unit.start : unit.end] for unit in extracted_text.units], path.name


@pytest.mark.corpus
def test_real_pdfs_hold_nearly_the_words_that_another_engine_finds(reader: FormatTextReader, corpus: Path) -> None:
    import pypdfium2

    for name in ("r-intro.pdf", "the-time-machine.pdf", "developers-reference-en.pdf", "paper-2col-tracejit.pdf"):
        extracted_text = reader.read(FileSources().identify(corpus / "pdf" / name))
        with pypdfium2.PdfDocument(corpus / "pdf" / name) as document:
            pages = [page.get_textpage().get_text_range() for page in document]

        assert len(pages) == len(extracted_text.units)
        assert shared(words_of("\n".join(pages)), words_of(extracted_text.text)) > 0.985, name


def words_of(text: str) -> list[str]:
    """Words without hyphens; pypdfium2 writes U+FFFE for the hyphen at the end of a line."""
    plain = re.sub("[-\u00ad\ufffe]\\s*", "", text)
    return re.findall(r"[A-Za-z]{3,}", plain)


def shared(expected: Sequence[str], found: Sequence[str]) -> float:
    """The part of the expected words that was found, each as often as it occurs."""
    from collections import Counter

    return (Counter(expected) & Counter(found)).total() / max(1, len(expected))
