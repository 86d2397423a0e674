"""Small Office files: documents as the XML that Word writes, presentations by python-pptx, workbooks by openpyxl."""

from __future__ import annotations

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/package/2006"
_TYPES = f"""<Types xmlns="{_P}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package\
.relationships+xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document\
.main+xml"/></Types>"""
_STYLES = f"""<w:styles xmlns:w="{_W}">
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Firma"><w:name w:val="Firmenkapitel"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:type="paragraph" w:styleId="Inhalt"><w:name w:val="TOC Heading"/><w:basedOn w:val="berschrift1"/>
<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Kreis"><w:name w:val="loop"/><w:basedOn w:val="Kreis"/></w:style>
<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style></w:styles>"""
_CORE = f"""<cp:coreProperties xmlns:cp="{_P}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The Report</dc:title><dc:creator>Ada; Bob</dc:creator><dc:language>de-AT</dc:language></cp:coreProperties>"""


def paragraph(text: str, style: str = "", properties: str = "", run: str = "") -> str:
    """A paragraph of WordprocessingML."""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{styled}{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """A table of WordprocessingML."""
    lines = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


PICTURE = """<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">\
<wp:docPr id="1" name="P" descr="a red square"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">\
<a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>\
<a:blip r:embed="rId2"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"""


def document(body: str) -> str:
    """The main part of a document."""
    return f'<w:document xmlns:w="{_W}" xmlns:r="{_R}"><w:body>{body}</w:body></w:document>'


def write_docx(path: Path, body: str, **parts: str) -> Path:
    """A document with that body; `parts` replace or add parts, their names' `__` standing for a slash."""

    def relations(*targets: tuple[str, str]) -> str:
        lines = (
            f'<Relationship Id="rId{n}" Type="{_R}/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(targets, 1)
        )
        return f'<Relationships xmlns="{_P}/relationships">{"".join(lines)}</Relationships>'

    content: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": relations(("officeDocument", "word/document.xml"), ("core-properties", "docProps/core.xml")),
        "docProps/core.xml": _CORE,
        "word/document.xml": document(body),
        "word/_rels/document.xml.rels": relations(("styles", "styles.xml"), ("image", "media/image1.png")),
        "word/styles.xml": _STYLES,
        "word/media/image1.png": png("red"),
    }
    content |= {name.replace("__", "/"): data for name, data in parts.items()}
    return write_zip(path, content)


def write_zip(path: Path, content: dict[str, str | bytes]) -> Path:
    """A ZIP archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def changed(path: Path, target: Path, **parts: str | bytes) -> Path:
    """A copy of an archive with other parts; their names' `__` stands for a slash, `_dot_` for a dot."""
    wanted = {name.replace("__", "/").replace("_dot_", "."): data for name, data in parts.items()}
    with zipfile.ZipFile(path) as archive:
        content: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    return write_zip(target, content | wanted)


def png(colour: str) -> bytes:
    """A small picture."""
    out = io.BytesIO()
    Image.new("RGB", (8, 6), colour).save(out, "PNG")
    return out.getvalue()


def write_pptx(path: Path) -> Path:
    """Five slides in two sections, the fourth hidden: pictures, a table, a chart, notes, a link from the second to the last."""
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck: Any = pptx.Presentation()
    width, height = deck.slide_width, deck.slide_height
    for number in range(1, 6):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Title {number}"
        slide.placeholders[1].text = f"Body of {number}"
        slide.notes_slide.notes_text_frame.text = f"say {number}"
        if number in (2, 5):
            picture = io.BytesIO(png("red" if number == 2 else "blue"))
            shape = slide.shapes.add_picture(picture, width // 2, height // 4, width // 4, height // 2)
            shape._element.nvPicPr.cNvPr.set("descr", f"Photo {number}")
    cells = deck.slides[2].shapes.add_table(2, 2, 0, height // 2, width // 2, height // 4).table
    for at, text in enumerate(("Name", "Value", "a", "1")):
        cells.cell(at // 2, at % 2).text = text
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["x", "y"]
    data.add_series("Sums", (1.5, 2))
    deck.slides[2].shapes.add_chart(XL_CHART_TYPE.PIE, width // 2, height // 2, width // 2, height // 4, data)
    deck.slides[3]._element.set("show", "0")
    deck.slides[1].shapes.title.click_action.target_slide = deck.slides[4]
    _add_sections(deck, ("First", 2), ("Second", 3))
    deck.save(path)
    return path


def _add_sections(deck: Any, *sections: tuple[str, int]) -> None:
    from lxml import etree

    ids = iter([each.get("id") for each in deck.part._element.sldIdLst])
    space = "http://schemas.microsoft.com/office/powerpoint/2010/main"
    listed = "".join(
        f'<p14:section name="{name}" id="{{0}}"><p14:sldIdLst>'
        + "".join(f'<p14:sldId id="{next(ids)}"/>' for _ in range(count))
        + "</p14:sldIdLst></p14:section>"
        for name, count in sections
    )
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    text = f'<p:extLst xmlns:p="{main}"><p:ext uri="{{1}}"><p14:sectionLst xmlns:p14="{space}">{listed}</p14:sectionLst></p:ext></p:extLst>'
    for old in deck.part._element.findall(f"{{{main}}}extLst"):
        deck.part._element.remove(old)
    deck.part._element.append(etree.fromstring(text))


def write_xlsx(path: Path) -> Path:
    """Sheets: `Q1 Plan` with a titled block, a second one, a named range and a formula; a hidden one; `T` with a table and chart."""
    import openpyxl
    from openpyxl.chart import BarChart, Reference
    from openpyxl.workbook.defined_name import DefinedName
    from openpyxl.worksheet.table import Table

    book: Any = openpyxl.Workbook()
    plan = book.active
    plan.title = "Q1 Plan"
    plan.append(["Budget 2024"])
    plan.append(["Item", "Cost", "Date"])
    for number in range(5):
        plan.append([f"item {number}", number * 1.5, datetime.date(2024, 1, number + 1)])
    plan["B8"] = "=SUM(B3:B7)"
    for cell, value in {
        "F2": "City",
        "G2": "People",
        "F3": "Wien",
        "G3": 2_000_000,
        "F4": "Graz",
        "G4": 300_000,
    }.items():
        plan[cell] = value
    plan.merge_cells("A1:C1")
    plan.column_dimensions["A"].width = 30
    hidden = book.create_sheet("Hidden & odd")
    hidden.sheet_state = "hidden"
    hidden["C5"], hidden["C6"], hidden["D6"] = "'=quoted", True, 0.1
    book.create_sheet("Empty")
    sales = book.create_sheet("T")
    for row in (["K", "V"], ["a", 1], ["b", 2]):
        sales.append(row)
    sales.add_table(Table(displayName="Sales", ref="A1:B3"))
    chart = BarChart()
    chart.title = "Values of T"
    chart.add_data(Reference(sales, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sales.add_chart(chart, "E5")
    book.defined_names["costs"] = DefinedName("costs", attr_text="'Q1 Plan'!$B$3:$B$7")
    book.save(path)
    return path


def write_sheets(path: Path, sheets: dict[str, dict[str, str]]) -> Path:
    """A workbook of those sheets: texts by cell."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        for cell, text in cells.items():
            sheet[cell] = text
    book.save(path)
    return path
