"""Titles that documents and presentations print although nothing says that they are titles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.formats.docx.handler import HANDLER as DOCX
from citekit.adapters.formats.handler import FormatHandler
from citekit.adapters.formats.pptx.handler import HANDLER as PPTX
from citekit.adapters.formats.shared.outline import Outline
from citekit.adapters.formats.xlsx.handler import HANDLER as XLSX
from citekit.container.parsers import Parsers
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Chapter, Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source
from tests.formats.office.office_files import PICTURE, paragraph, png, table, write_docx, write_sheets

PROSE = paragraph("The water of the lake was sampled each month, and the samples show what the shore has lost. " * 3)
CENTERED = '<w:jc w:val="center"/>'
BOLD = "<w:b/>"


def outline(path: Path) -> Outline:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[path.suffix])
    handlers: dict[str, FormatHandler] = {".docx": DOCX, ".pptx": PPTX, ".xlsx": XLSX}
    return handlers[path.suffix].outliner(source.format, Parsers()).outline(source, silent)


def size(points: int) -> str:
    return f'<w:sz w:val="{2 * points}"/>'


def core(title: str) -> str:
    package = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
    return (
        f'<cp:coreProperties xmlns:cp="{package}" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></cp:coreProperties>"
    )


LONG = (
    "Report of the committee on the state of the lakes of the northern provinces and on all of their shores in winter"
)
LETTERHEAD = paragraph("Northern University", "", CENTERED, BOLD + size(11))
LARGE = paragraph("Lakes of the North", "", CENTERED, size(22)) + paragraph("and their shores", "", CENTERED, size(18))

BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
BOX = "<w:r><w:pict><w:txbxContent>" + paragraph("Date of the meeting: ...") + "</w:txbxContent></w:pict></w:r>"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (LETTERHEAD + LARGE + paragraph("Nadia Nemo") + PROSE, "Lakes of the North – and their shores"),
        (
            paragraph("Lakes of the North", "", CENTERED) + paragraph("Overview", "", "", BOLD) + PROSE,
            "Lakes of the North",
        ),
        (
            paragraph(LONG, "", "", BOLD) * 2 + paragraph("Dear members", "", "", size(11)) + PROSE,
            LONG,
        ),
        (paragraph("Lakes of the North", "berschrift1") + PROSE, "Lakes of the North"),
        (
            paragraph("Lakes of the North", "berschrift1") + 2 * (paragraph("The shore", "berschrift1") + PROSE),
            "Lakes of the North",
        ),
        (2 * (paragraph("Scope of the work", "berschrift1") + PROSE), None),
        (paragraph("Introduction", "berschrift1", "", size(20)) + paragraph("Nadia Nemo", "berschrift2") + PROSE, None),
        (paragraph("Name of the lake 4", "", "", BOLD) + paragraph("Depth of the lake 5") + PROSE, None),
        (table(("Zone of the lake", "Depth")) + paragraph("The plot:", "", "", BOLD) + PROSE, None),
        (PROSE + paragraph("Later words", "", "", BOLD + size(20)) + PROSE, None),
        (LETTERHEAD + paragraph("Lakes of the North", "", CENTERED, BOLD + size(11)) + PROSE, "Lakes of the North"),
        (
            paragraph("Nemo family", "", CENTERED, BOLD + size(10))
            + paragraph("Order of March", "", CENTERED, BOLD + size(11))
            + PROSE,
            "Order of March",
        ),
        (
            paragraph("REPORT", "", CENTERED, BOLD) + paragraph("on the lakes", "", CENTERED) + PROSE,
            "REPORT on the lakes",
        ),
        (
            f"<w:p><w:r><w:t>Lakes </w:t></w:r>{BOX}<w:r><w:t>of the North</w:t></w:r></w:p>" + PROSE,
            "Lakes of the North",
        ),
        (paragraph("Notes on the lakes") + paragraph("Nadia Nemo") + PROSE, "Notes on the lakes"),
        (paragraph("What are the lakes?") + PROSE, None),
        (paragraph("1. What the lakes are") + PROSE, None),
        (paragraph("Dear members,") + PROSE, None),
        (
            LARGE + BREAK + paragraph("Version History", "", CENTERED, size(20)) + PROSE,
            "Lakes of the North – and their shores",
        ),
    ],
    ids=[
        "largest",
        "centered",
        "long",
        "only heading",
        "empty heading",
        "chapters",
        "generic",
        "contents",
        "table",
        "prose",
        "institution",
        "larger",
        "continued",
        "text box",
        "plain",
        "question",
        "item",
        "salutation",
        "next page",
    ],
)
def test_a_document_without_the_style_title_is_titled_by_its_most_prominent_first_lines(
    tmp_path: Path, body: str, title: str | None
) -> None:
    assert outline(write_docx(tmp_path / "v3.docx", body, **{"docProps__core.xml": core("")})).title == title


def test_a_title_on_the_cover_and_on_the_inner_title_page_is_preferred_to_the_letterhead(tmp_path: Path) -> None:
    title = paragraph("The growth of northern lichens", "", "", BOLD)
    body = paragraph("NORTHERN UNIVERSITY", "", "", BOLD) + paragraph("") + title + paragraph("") + title + PROSE

    assert outline(write_docx(tmp_path / "a.docx", body, **{"docProps__core.xml": core("")})).title == (
        "The growth of northern lichens"
    )


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Consensus policy of the institute", "Lakes of the North – and their shores"),
        ("The lakes of the north and their shores", "The lakes of the north and their shores"),
        ("The North", "Lakes of the North – and their shores"),
    ],
)
def test_the_title_of_the_metadata_is_used_only_if_the_document_confirms_it(
    tmp_path: Path, written: str, title: str
) -> None:
    path = write_docx(tmp_path / "a.docx", LETTERHEAD + LARGE + PROSE, **{"docProps__core.xml": core(written)})

    assert outline(path).title == title


def deck(path: Path, *slides: list[tuple[str, int, float]], title: str = "PowerPoint Presentation") -> Path:
    """A presentation whose slides have text boxes: text, size in points, and distance from the top as a fraction."""
    from pptx import Presentation
    from pptx.util import Inches, Pt

    made: Any = Presentation()
    made.core_properties.title = title
    for boxes in slides:
        slide = made.slides.add_slide(made.slide_layouts[5])  # with an empty title
        for text, points, top in boxes:
            box = slide.shapes.add_textbox(Inches(1), Inches(7.5 * top), Inches(8), Inches(1))
            for number, line in enumerate(text.split("\n")):
                added = box.text_frame.paragraphs[0] if number == 0 else box.text_frame.add_paragraph()
                run = added.add_run()
                run.text, run.font.size = line, Pt(points)
    made.save(path)
    return path


COVER = [("COURSE", 16, 0.3), ("Lakes of the North", 40, 0.4), ("Nadia Nemo", 20, 0.6)]
TOPIC = [("TOPIC 1", 14, 0.05), ("How a lake grows", 28, 0.12), ("7", 44, 0.5), ("Rain falls.\nIt stays.", 18, 0.6)]
STATEMENT = [("A lake is deep", 44, 0.5), ("Motives", 30, 0.1), ("Nemo Ltd.", 60, 0.02)]
LIST = [("Rain\nIce\nSnow\nSprings", 24, 0.3), ("Nemo Ltd.", 60, 0.02)]


def test_a_text_on_most_slides_that_looks_like_no_title_is_not_that_of_the_presentation(tmp_path: Path) -> None:
    cover = [("RVP1", 40, 0.02), ("The lakes of the north", 30, 0.3)]
    others = [[("RVP1", 40, 0.02), (f"{word} of the lakes", 30, 0.3)] for word in ("Depth", "Shores", "Springs", "Ice")]

    assert outline(deck(tmp_path / "a.pptx", cover, *others)).title == "The lakes of the north"


def test_a_slide_whose_title_is_a_text_box_is_titled_by_the_largest_type_at_its_top(tmp_path: Path) -> None:
    with_logo = [("Nemo Ltd.", 60, 0.02)]
    found = outline(deck(tmp_path / "v3.pptx", COVER, TOPIC + with_logo, STATEMENT, LIST))

    assert [item.title for item in found.items] == ["Lakes of the North", "How a lake grows", "Motives", "Rain"]
    assert found.items[1].summary == "TOPIC 1 7 Rain falls. It stays."
    assert found.title == "Lakes of the North"


def test_a_presentation_keeps_the_title_of_its_metadata_if_its_first_slides_confirm_it(tmp_path: Path) -> None:
    assert outline(deck(tmp_path / "a.pptx", COVER, title="The lakes of the North")).title == "The lakes of the North"
    assert outline(deck(tmp_path / "b.pptx", COVER, title="Template of a company")).title == "Lakes of the North"


def test_headings_made_by_hand_are_nested_by_their_numbers(tmp_path: Path) -> None:
    titles = ["1. The lake", "1.1. Its water", "1.1.1 Its ice", "2. The shore", "2.1 Its birds"]
    body = "".join(paragraph(title, "", "", BOLD) + PROSE for title in titles)

    found = outline(write_docx(tmp_path / "a.docx", body, **{"docProps__core.xml": core("")})).items

    assert [item.title for item in found] == ["1. The lake", "2. The shore"]
    assert [child.title for child in found[0].children if child.type != "opening"] == ["1.1. Its water"]


COLUMNS = {"A3": "Lake", "B3": "Area", "A4": "Ness", "B4": "56"}


@pytest.mark.parametrize(
    ("cells", "title"),
    [
        ({"A1": "Lakes of the North", **COLUMNS}, "Lakes of the North"),
        ({"A2": "Lakes of the North", **COLUMNS}, "Lakes of the North"),
        ({"A2": "(in millions of euros)", **COLUMNS}, None),
        (COLUMNS, None),
        ({}, None),
    ],
)
def test_a_workbook_is_titled_by_what_is_above_its_first_table(
    cells: dict[str, str], title: str | None, tmp_path: Path
) -> None:
    assert (
        outline(write_sheets(tmp_path / "x.xlsx", {"Empty": {}, "Sheet1": cells, "More": {"A1": "More"}})).title
        == title
    )


@pytest.mark.parametrize(
    ("written", "title"),
    [("Lake Ness: Area", "Lake Ness: Area"), ("Budget", "Lakes"), ("Untitled", "Lakes"), ("", "Lakes")],
)
def test_the_properties_of_a_workbook_are_its_title_if_its_sheet_confirms_them(
    written: str, title: str, tmp_path: Path
) -> None:
    import openpyxl

    path = write_sheets(tmp_path / "x.xlsx", {"Sheet1": {"A2": "Lakes", **COLUMNS}})
    book = openpyxl.load_workbook(path)
    book.properties.title = written
    book.save(path)

    assert outline(path).title == title


def divided(path: Path, layouts: list[int]) -> Path:
    """A presentation of slides with these layouts of the default template; 2 is that of a section header."""
    from pptx import Presentation

    made: Any = Presentation()
    for number, layout in enumerate(layouts, 1):
        made.slides.add_slide(made.slide_layouts[layout]).shapes.title.text = f"Slide {number}"
    made.save(path)
    return path


@pytest.mark.parametrize(
    ("layouts", "slides"),
    [
        ([0, 2, 1, 1, 1, 2, 1, 1, 2], [1, 4, 3, 1]),
        ([0, 2, 1, 1, 1, 1, 1], [1] * 7),
        ([2, 1, 2, 1, 2, 1], [1] * 6),
    ],
    ids=["headers", "one header", "a usual layout"],
)
def test_section_headers_hold_the_slides_after_them(tmp_path: Path, layouts: list[int], slides: list[int]) -> None:
    found = outline(divided(tmp_path / "a.pptx", layouts))

    assert [len(item.location.numbers) for item in found.items if isinstance(item.location, Pages)] == slides
    assert [len(item.children) for item in found.items] == [each - 1 for each in slides]


def test_slides_that_print_the_number_of_a_chapter_are_section_headers(tmp_path: Path) -> None:
    first = [("CAPITOLO 1", 24, 0.5), ("Come cresce un lago", 32, 0.3)]
    second = [("CAPITOLO 2", 24, 0.5), ("Il fondo", 32, 0.3)]
    about = [("Rain", 32, 0.05), ("See chapter 3 about the rain in the mountains.", 18, 0.5)]
    found = outline(deck(tmp_path / "a.pptx", COVER, first, about, about, second, about, about))

    assert [item.title for item in found.items] == [
        "Lakes of the North",
        "CAPITOLO 1: Come cresce un lago",
        "CAPITOLO 2: Il fondo",
    ]
    assert [len(item.children) for item in found.items] == [0, 2, 2]


def test_icons_are_no_figures_and_one_row_is_no_header(tmp_path: Path) -> None:
    import io

    from pptx import Presentation
    from pptx.util import Inches

    made: Any = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    for number, (across, described) in enumerate(((1, ""), (1, "A lake"), (5, ""))):
        shape = slide.shapes.add_picture(io.BytesIO(png("red")), Inches(number), Inches(1), Inches(across), Inches(2))
        shape._element.nvPicPr.cNvPr.set("descr", described)
    for rows in (1, 2):
        cells = slide.shapes.add_table(rows, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
        cells.cell(0, 0).text, cells.cell(0, 1).text = "Depth", "Shore"
    made.save(tmp_path / "a.pptx")

    (item,) = outline(tmp_path / "a.pptx").items

    assert [each.title for each in item.children] == ["A lake", "Figure", "Table", "Depth, Shore"]


@pytest.mark.parametrize(
    ("described", "title"),
    [
        ("A lake Description automatically generated", "A lake"),
        ("Ein See. Automatisch generierte Beschreibung mit niedriger Zuverlässigkeit", "Ein See."),
        ("https://lakes.example/a.png", "Figure"),
        ("Related image", "Figure"),
        ("Image result for lakes", "lakes"),
        ('Résultat de recherche d\'images pour "un lac"', "un lac"),
        ('A map of "lakes"', 'A map of "lakes"'),
        ("lake_02.jpg", "Figure"),
        ("File:Lakes.png", "Figure"),
        ("MCj04134820000[1]", "Figure"),
        ("lake-logo-without-words-200px", "Figure"),
        ("Lakes in 1914", "Lakes in 1914"),
        ("d:\\data\\My lakes\\lake 2.PNG", "Figure"),
        ("A related image of https", "A related image of https"),
    ],
)
def test_descriptions_that_programs_wrote_are_no_titles(tmp_path: Path, described: str, title: str) -> None:
    import io

    from pptx import Presentation
    from pptx.util import Inches

    made: Any = Presentation()
    shape = made.slides.add_slide(made.slide_layouts[5]).shapes.add_picture(
        io.BytesIO(png("red")), Inches(1), Inches(1), Inches(5), Inches(4)
    )
    shape._element.nvPicPr.cNvPr.set("descr", described)
    made.save(tmp_path / "a.pptx")

    (item,) = outline(tmp_path / "a.pptx").items

    assert [each.title for each in item.children] == [title]


@pytest.mark.parametrize(
    ("name", "title"),
    [("Tableau12", "Lake, Depth"), ("Table1", "Lake, Depth"), ("Lakes1", "Lakes1"), ("Table", "Table")],
)
def test_tables_without_a_given_name_are_titled_by_their_columns(tmp_path: Path, name: str, title: str) -> None:
    from openpyxl import Workbook
    from openpyxl.worksheet.table import Table

    made: Any = Workbook()
    for row in (("Lake", "Depth"), ("North", 3), ("South", 5)):
        made.active.append(row)
    made.active.add_table(Table(displayName=name, ref="A1:B3"))
    made.save(tmp_path / "a.xlsx")

    (item,) = outline(tmp_path / "a.xlsx").items

    assert [each.title for each in item.children] == [title]


def test_headings_without_text_below_them_are_no_opening(tmp_path: Path) -> None:
    body = paragraph("Lakes", "berschrift1") + paragraph("Shores", "berschrift2") + PROSE
    body += paragraph("Rivers", "berschrift1") + PROSE + paragraph("Banks", "berschrift2") + PROSE

    lakes, rivers = outline(write_docx(tmp_path / "a.docx", body)).items

    assert [(each.title, each.type) for each in lakes.children] == [("Shores", "section")]
    assert [(each.title, each.type) for each in rivers.children] == [("Introduction", "opening"), ("Banks", "section")]
    assert isinstance(lakes.children[0].location, Chapter)
    assert lakes.children[0].location.chars is not None
    assert lakes.children[0].location.chars[0] == 0


def test_a_picture_before_the_first_heading_is_no_part(tmp_path: Path) -> None:
    items = outline(write_docx(tmp_path / "a.docx", PICTURE + paragraph("Lakes", "berschrift1") + PROSE)).items

    assert [(each.title, each.location) for each in items] == [("Lakes", Chapter(2))]
    assert [each.title for each in outline(write_docx(tmp_path / "b.docx", PICTURE)).items] == ["Opening"]


def test_a_diagram_is_titled_by_its_text(tmp_path: Path) -> None:
    from lxml import etree
    from pptx import Presentation
    from pptx.opc.package import Part
    from pptx.opc.packuri import PackURI

    office, drawing = (
        "http://schemas.openxmlformats.org/officeDocument/2006",
        "http://schemas.openxmlformats.org/drawingml/2006",
    )
    words = "".join(
        f"<d:t><a:p><a:r><a:t>{each}</a:t></a:r></a:p></d:t>" for each in ("Lakes", "Rivers", "words " * 30)
    )
    blob = f'<d:dataModel xmlns:d="{drawing}/diagram" xmlns:a="{drawing}/main">{words}</d:dataModel>'
    made: Any = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    data: Any = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, blob.encode())
    key = slide.part.relate_to(data, f"{office}/relationships/diagramData")
    slide.shapes._spTree.append(
        etree.fromstring(
            f'''<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
            xmlns:a="{drawing}/main"><p:nvGraphicFramePr><p:cNvPr id="9" name="D"/><p:cNvGraphicFramePr/><p:nvPr/>
            </p:nvGraphicFramePr><p:xfrm><a:off x="900000" y="900000"/><a:ext cx="5000000" cy="5000000"/></p:xfrm><a:graphic>
            <a:graphicData uri="{drawing}/diagram"><d:relIds xmlns:d="{drawing}/diagram" xmlns:r="{office}/relationships"
            r:dm="{key}"/></a:graphicData></a:graphic></p:graphicFrame>'''
        )
    )
    made.save(tmp_path / "a.pptx")

    (item,) = outline(tmp_path / "a.pptx").items

    (figure,) = item.children
    assert figure.title.startswith("Lakes, Rivers, words words")
    assert len(figure.title) <= 80
