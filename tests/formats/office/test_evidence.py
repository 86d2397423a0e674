"""Evidence out of Office files, opened by the libraries that usually read them, and by PyMuPDF."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.epub.extractor import EpubExtractor
from citekit.adapters.formats.pptx.extractor import SlideExtractor
from citekit.adapters.formats.xlsx.extractor import CellsExtractor
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.locations import Box, Cells, Chapter, Location, Pages
from citekit.domain.ports.extractor import Extractor, identity_of
from tests.formats.office import office_files as made

Cut = Callable[..., tuple[Extraction, bytes]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    made.write_pptx(folder / "deck.pptx")
    made.write_xlsx(folder / "budget.xlsx")
    body = made.paragraph("One", "berschrift1") + made.paragraph("Text &amp; more") + made.PICTURE
    made.write_docx(folder / "report.docx", body + made.paragraph("Two", "berschrift1") + made.table(("a", "b")))
    return folder


@pytest.fixture
def cut(files: Path, tmp_path: Path) -> Cut:
    extractors: dict[str, Extractor] = {
        ".pptx": SlideExtractor(),
        ".xlsx": CellsExtractor(),
        ".docx": EpubExtractor(AnyBookReader()),
    }

    def cut(name: str, place: Location, form: Form = Form.NATIVE) -> tuple[Extraction, bytes]:
        source, target = FileSources().identify(files / name), tmp_path / "evidence"
        target.unlink(missing_ok=True)
        extraction = extractors[source.path.suffix].extract(source, place, Options(form), target)
        return extraction, target.read_bytes()

    return cut


def opened_deck(data: bytes) -> Any:
    import pptx

    return pptx.Presentation(io.BytesIO(data))


def opened_sheet(data: bytes) -> Any:
    import openpyxl

    return openpyxl.load_workbook(io.BytesIO(data)).active


def test_word_documents_have_an_identity_of_their_own(files: Path) -> None:
    extractor, source = EpubExtractor(AnyBookReader()), FileSources().identify(files / "report.docx")

    assert identity_of(extractor, source) != extractor.identity


def test_slides_are_a_deck_with_only_their_own_content(cut: Cut) -> None:
    extraction, data = cut("deck.pptx", Pages((2, 3)))

    slides = list(opened_deck(data).slides)
    assert ["Title 2", "Title 3"] == [slide.shapes.title.text for slide in slides]
    assert ["say 2", "say 3"] == [slide.notes_slide.notes_text_frame.text for slide in slides]
    assert [1.5, 2.0] == list(slides[1].shapes[-1].chart.plots[0].series[0].values)
    assert (Pages((2, 3)), ".pptx") == (extraction.extent, extraction.suffix)


def test_nothing_of_the_other_slides_is_in_the_file(cut: Cut) -> None:
    _, data = cut("deck.pptx", Pages((2, 3)))

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for absent in (b"Title 5", b"say 5", b"Photo 5", b"Body of 1", made.png("blue")):
        assert not [name for name, content in parts.items() if absent in content]
    assert made.png("red") in parts.values()
    assert not [name for name in parts if "thumbnail" in name or "app.xml" in name or "printerSettings" in name]
    assert b'name="Second"' in parts["ppt/presentation.xml"]
    assert 1 == sum("slideLayouts/slideLayout" in name and not name.endswith(".rels") for name in parts)


def test_a_link_to_a_slide_that_is_left_out_is_taken_out(cut: Cut) -> None:
    _, alone = cut("deck.pptx", Pages((2,)))
    _, both = cut("deck.pptx", Pages((2, 5)))

    assert opened_deck(alone).slides[0].shapes.title.click_action.target_slide is None
    assert "Title 5" == opened_deck(both).slides[0].shapes.title.click_action.target_slide.shapes.title.text


RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ACTIVE = {
    "rIdA": ("image", "http://tracker.example/a.png", True),
    "rIdB": ("image", r"\\\\host.example\share\a.png", True),
    "rIdC": ("oleObject", "file:///C:/Windows/System32/calc.exe", True),
    "rIdD": ("hyperlink", "file:///C:/Windows/System32/calc.exe", True),
    "rIdE": ("video", "http://tracker.example/a.mp4", True),
    "rIdF": ("control", "../activeX/activeX1.xml", False),
    "rIdG": ("package", "../embeddings/x.docm", False),
    "rIdH": ("oleObject", "../embeddings/o.bin", False),
    "rIdI": ("unheardOf", "../embeddings/o.bin", False),
}
SAFE = {"rIdY": ("hyperlink", "https://example.org/", True), "rIdZ": ("hyperlink", "mailto:a@example.org", True)}


def test_slides_load_nothing_and_run_nothing(tmp_path: Path, files: Path) -> None:
    parts = {"ppt/activeX/activeX1.xml": "<a/>", "ppt/embeddings/x.docm": "PK", "ppt/embeddings/o.bin": "OLE"}
    mode = {True: "External", False: "Internal"}
    lines = "".join(
        f'<Relationship Id="{id}" Type="{RELATIONS}/{kind}" Target="{target}" TargetMode="{mode[outside]}"/>'
        for id, (kind, target, outside) in (ACTIVE | SAFE).items()
    )
    actions = "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{90 + n}" name="x"><a:hlinkClick r:id="{id}" action="{action}"/></p:cNvPr>'
        f"<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/></p:sp>"
        for n, (id, action) in enumerate(
            [
                ("rIdD", "ppaction://program"),
                ("rIdY", "ppaction://program"),
                ("", "ppaction://macro?name=M"),
                ("rIdY", ""),
            ]
        )
    )
    picture = (
        '<p:pic><p:nvPicPr><p:cNvPr id="80" name="x"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill>'
        '<a:blip r:link="rIdA"/></p:blipFill><p:spPr/></p:pic>'
    )
    embedded = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="81" name="x"/><p:cNvGraphicFramePr/><p:nvPr/>'
        '</p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData uri="x"><p:oleObj r:id="rIdH"><p:embed/>'
        f"{picture}</p:oleObj></a:graphicData></a:graphic></p:graphicFrame>"
    )
    with zipfile.ZipFile(files / "deck.pptx") as deck:
        content: dict[str, bytes] = {name: deck.read(name) for name in deck.namelist()} | {
            name: each.encode() for name, each in parts.items()
        }
    slide = next(name for name in content if name.startswith("ppt/slides/slide1.xml"))
    content[slide] = content[slide].replace(b"</p:spTree>", f"{picture}{embedded}{actions}</p:spTree>".encode())
    rels = "ppt/slides/_rels/slide1.xml.rels"
    content[rels] = content[rels].replace(b"</Relationships>", f"{lines}</Relationships>".encode())
    made.write_zip(tmp_path / "active.pptx", dict[str, str | bytes](content))
    target = tmp_path / "evidence.pptx"

    extraction = SlideExtractor().extract(
        FileSources().identify(tmp_path / "active.pptx"), Pages((1,)), Options(Form.NATIVE), target
    )

    with zipfile.ZipFile(target) as deck:
        kept = "".join(deck.read(name).decode("utf-8", "replace") for name in deck.namelist() if "slide1.xml" in name)
        assert not set(parts) & set(deck.namelist())
    assert not [id for id in ACTIVE if f'"{id}"' in kept]
    assert 'r:id="rIdY" action=""' in kept
    assert kept.count("ppaction://") == 0
    assert all(f'"{id}"' in kept for id in SAFE)
    assert any("run a program" in note for note in extraction.notes)
    assert opened_deck(target.read_bytes()).slides[0].shapes


RUNS = "ppaction://program"
IN_OTHER_WORDS = {
    "as it is": ("slides/slide1.xml", RUNS, "utf-8"),
    "with a character reference": ("slides/slide1.xml", "ppaction:&#47;/program", "utf-8"),
    "a macro": ("slides/slide1.xml", "&#112;paction://macro?name=M", "utf-8"),
    "another file": ("slides/slide1.xml", "ppaction://hlinkfile", "utf-8"),
    "another presentation": ("slides/slide1.xml", "ppaction://hlinkpres?slideindex=1", "utf-8"),
    "in UTF-16": ("slides/slide1.xml", RUNS, "utf-16"),
    "on the layout": ("slideLayouts/slideLayout2.xml", RUNS, "utf-8"),
    "on the master": ("slideMasters/slideMaster1.xml", RUNS, "utf-8"),
    "in the notes": ("notesSlides/notesSlide1.xml", RUNS, "utf-8"),
}


@pytest.mark.parametrize("name", ["", "ppt/slides/slide1.dat", "other/one.xml"])
@pytest.mark.parametrize("how", IN_OTHER_WORDS)
def test_no_way_to_write_an_action_runs_a_program(how: str, name: str, tmp_path: Path, files: Path) -> None:
    from lxml import etree

    part, action, encoding = IN_OTHER_WORDS[how]
    with zipfile.ZipFile(files / "deck.pptx") as deck:
        content: dict[str, str | bytes] = {each: deck.read(each) for each in deck.namelist()}
    folder, _, last = f"ppt/{part}".rpartition("/")
    link = f'<Relationship Id="rIdQ" Type="{RELATIONS}/hyperlink" Target="calc.exe" TargetMode="External"/>'
    rels = f"{folder}/_rels/{last}.rels"
    content[rels] = bytes(content[rels]).replace(b"</Relationships>", f"{link}</Relationships>".encode())  # type: ignore[arg-type]
    shape = (
        f'<p:sp><p:nvSpPr><p:cNvPr id="90" name="x"><a:hlinkClick r:id="rIdQ" action="{action}"/></p:cNvPr>'
        "<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/></p:sp></p:spTree>"
    )
    text = bytes(content[f"ppt/{part}"]).decode().replace("</p:spTree>", shape)  # type: ignore[arg-type]
    content[f"ppt/{part}"] = text.replace("UTF-8", encoding, 1).encode(encoding)
    if name:
        moved, _, known = name.rpartition("/")
        content[name] = content.pop("ppt/slides/slide1.xml")
        old = bytes(content.pop("ppt/slides/_rels/slide1.xml.rels"))  # type: ignore[arg-type]
        content[f"{moved}/_rels/{known}.rels"] = old.replace(b'"../', b'"/ppt/')
        for listing, before in (("ppt/_rels/presentation.xml.rels", "slides"), ("[Content_Types].xml", "/ppt/slides")):
            said = bytes(content[listing])  # type: ignore[arg-type]
            content[listing] = said.replace(f"{before}/slide1.xml".encode(), f"/{name}".encode())
    made.write_zip(tmp_path / "active.pptx", content)
    target = tmp_path / "evidence.pptx"

    extraction = SlideExtractor().extract(
        FileSources().identify(tmp_path / "active.pptx"), Pages((1,)), Options(Form.NATIVE), target
    )

    with zipfile.ZipFile(target) as deck:
        roots = [etree.fromstring(data) for data in map(deck.read, deck.namelist()) if data.lstrip().startswith(b"<")]
    values = [str(value) for root in roots for each in root.iter() for value in each.attrib.values()]
    assert not [value for value in values if "ppaction" in value or "calc.exe" in value]
    assert any("run a program" in note for note in extraction.notes)
    assert opened_deck(target.read_bytes()).slides[0].shapes


@pytest.mark.parametrize(
    ("name", "place"), [("deck.pptx", Pages((2,))), ("budget.xlsx", Cells("T")), ("report.docx", Chapter(1))]
)
def test_the_same_request_gives_the_same_bytes(cut: Cut, name: str, place: Location) -> None:
    assert cut(name, place)[1] == cut(name, place)[1]


def test_the_text_of_slides_holds_tables_data_of_charts_and_notes(cut: Cut) -> None:
    _, data = cut("deck.pptx", Pages((3,)), Form.TEXT)

    assert "Title 3\nBody of 3\nName\tValue\na\t1\nSums\n\tSums\nx\t1.5\ny\t2\n\nNotes: say 3\n" == data.decode()


def test_the_text_of_a_region_is_what_stands_there(cut: Cut) -> None:
    _, data = cut("deck.pptx", Pages((3,), Box(0.01, 0.6, 0.4, 0.7)), Form.TEXT)

    assert "Name\tValue\na\t1" in data.decode()
    assert "Sums" not in data.decode()


def test_cells_stand_at_their_own_addresses_with_their_formats(cut: Cut) -> None:
    extraction, data = cut("budget.xlsx", Cells.read("Q1 Plan", "A1:C4"))

    sheet = opened_sheet(data)
    assert ("Q1 Plan", "A1:C4") == (sheet.title, sheet.dimensions)
    assert [["item 0", 0, "2024-01-01"], ["item 1", 1.5, "2024-01-02"]] == [
        [row[0].value, row[1].value, f"{row[2].value:%Y-%m-%d}"] for row in sheet.iter_rows(min_row=3)
    ]
    assert (["A1:C1"], 30) == ([str(each) for each in sheet.merged_cells.ranges], sheet.column_dimensions["A"].width)
    assert Cells.read("Q1 Plan", "A1:C4") == extraction.extent


def test_texts_stay_texts_and_other_values_what_they_are(cut: Cut) -> None:
    _, data = cut("budget.xlsx", Cells("Hidden & odd"))

    sheet = opened_sheet(data)
    assert ("'=quoted", True, 0.1) == (sheet["C5"].value, sheet["C6"].value, sheet["D6"].value)


def test_csv_has_the_rows_and_columns_of_the_range(cut: Cut) -> None:
    extraction, data = cut("budget.xlsx", Cells.read("Q1 Plan", "E1:G3"), Form.TEXT)

    assert [["", "", ""], ["", "City", "People"], ["", "Wien", "2000000"]] == [
        row or ["", "", ""] for row in csv.reader(data.decode().splitlines())
    ]
    assert (".csv", "text/csv; charset=utf-8") == (extraction.suffix, extraction.media_type)


def test_csv_runs_no_text_as_a_formula(tmp_path: Path) -> None:
    harmful = ["=cmd|'/c calc'!A1", "@SUM(1)", "+1+x", "-2+cmd|'x'!A1", "&#10;=1+1", "\uff1d1+1", "a;=cmd|'x'!A1"]
    texts = [*harmful, "-5", "+49 30 1234", "a=b", "so; - and"]
    body = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{text}</t></is></c></row>' for n, text in enumerate(texts, 1)
    )
    made.write_sheets(tmp_path / "plain.xlsx", {"T": {"A1": "x"}})
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{body}</sheetData></worksheet>"
    )
    path = made.changed(tmp_path / "plain.xlsx", tmp_path / "x.xlsx", **{"xl/worksheets/sheet1.xml": sheet})
    target = tmp_path / "x.csv"

    extraction = CellsExtractor().extract(FileSources().identify(path), Cells("T"), Options(Form.TEXT), target)

    written = [row[0] for row in csv.reader(io.StringIO(target.read_bytes().decode(), newline=""))]
    assert written == [*(f"'{unescape(text)}" for text in harmful), *texts[len(harmful) :]]
    assert any("apostrophe was added" in note and "(7 in total)" in note for note in extraction.notes)


def test_a_formula_without_a_value_is_given_as_text_and_said(cut: Cut) -> None:
    extraction, data = cut("budget.xlsx", Cells.read("Q1 Plan", "B8"), Form.HTML)

    assert "=SUM(B3:B7)" in data.decode()
    assert extraction.notes[0].startswith("Formulas without a stored value appear as text")
    assert extraction.notes[0].endswith("(1 in total).")


def test_shared_strings_and_dates_of_either_epoch_are_read(tmp_path: Path, cut: Cut, files: Path) -> None:
    import datetime

    import xlsxwriter

    for name, options in (("1900", {}), ("1904", {"date_1904": True})):
        with xlsxwriter.Workbook(str(files / f"{name}.xlsx"), options) as book:
            sheet = book.add_worksheet("S")
            sheet.write_row(0, 0, ["shared", "shared"])
            sheet.write_rich_string(1, 0, book.add_format({"bold": True}), "rich", " text")
            sheet.write_datetime(
                1, 1, datetime.datetime(2024, 2, 29, 13, 30), book.add_format({"num_format": "d. mmm h:mm"})
            )

        assert b"shared,shared\r\nrich text,2024-02-29T13:30:00\r\n" == cut(f"{name}.xlsx", Cells("S"), Form.TEXT)[1]
        assert datetime.datetime(2024, 2, 29, 13, 30) == opened_sheet(cut(f"{name}.xlsx", Cells("S"))[1])["B2"].value


def test_a_chapter_of_a_document_is_html_with_its_picture(cut: Cut) -> None:
    _, data = cut("report.docx", Chapter(1))

    assert "Text &amp; more" in data.decode()
    assert 'src="data:image/png;base64,' in data.decode()
    assert "Two" not in data.decode()


def test_a_chapter_of_a_document_is_laid_out_as_a_pdf(cut: Cut) -> None:
    import pypdfium2

    _, data = cut("report.docx", Chapter(1), Form.PDF)

    assert "Text & more" in pypdfium2.PdfDocument(data)[0].get_textpage().get_text_range()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("deck.pptx", Pages((6,))),
        ("deck.pptx", Pages((2, 9))),
        ("budget.xlsx", Cells("No such")),
        ("budget.xlsx", Cells.read("Q1 Plan", "A1:C9")),
        ("budget.xlsx", Cells.read("Empty", "A1")),
        ("report.docx", Chapter(3)),
    ],
)
@pytest.mark.parametrize("form", [Form.NATIVE, Form.TEXT])
def test_what_is_not_there_is_refused(cut: Cut, name: str, place: Location, form: Form) -> None:
    with pytest.raises(LocationOutside):
        cut(name, place, form)


@pytest.mark.parametrize(("name", "place"), [("deck.pptx", Pages((1,))), ("budget.xlsx", Cells("T"))])
def test_a_form_that_it_does_not_have_is_refused(cut: Cut, name: str, place: Location) -> None:
    with pytest.raises(FormUnsupported):
        cut(name, place, Form.PNG)
