"""Small Office files that may cost much: repeated, nested, chained, and referred to without end. None is larger than a megabyte."""

from __future__ import annotations

from collections.abc import Callable

from tests.faults.bill_shapes import Shape, zipped
from tests.faults.hostile.zips import OFFICE, SHEET, WORD, cells, docx, words, xlsx

_R = f'xmlns:r="{OFFICE}"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_HEAD = "<p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"
_RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_PARAGRAPH = "<w:p><w:r><w:t>a</w:t></w:r></w:p>"


def _many(piece: str, count: int) -> str:
    return "".join(piece.format(number) for number in range(count))


def _relation(kind: str, target: str) -> str:
    return f'<Relationship Id="{kind}" Type="{OFFICE}/{kind}" Target="{target}"/>'


def document(body: str, **parts: str) -> bytes:
    """A Word document of this body; `parts` are its other parts, such as `styles`."""
    relations = "".join(_relation(kind, f"{kind}.xml") for kind in parts)
    more = {f"word/{kind}.xml": f'<w:{kind} xmlns:w="{WORD}">{inner}</w:{kind}>' for kind, inner in parts.items()}
    return zipped(docx(words("x").replace("<w:body>", f"<w:body>{body}"), relations, **more))


def _numbering(count: int) -> bytes:
    levels = _many(
        '<w:abstractNum w:abstractNumId="{0}"><w:numStyleLink w:val="n{0}"/></w:abstractNum>', count
    ) + _many('<w:num w:numId="{0}"><w:abstractNumId w:val="{0}"/></w:num>', count)
    styles = _many(
        '<w:style w:type="numbering" w:styleId="n{0}"><w:pPr><w:numPr><w:numId w:val="{0}"/></w:numPr></w:pPr></w:style>',
        count,
    )
    used = _many(
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{0}"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>',
        count,
    )
    return document(used, numbering=levels, styles=styles)


def _wide_row(cells: int, rows: int, properties: str = "") -> str:
    row = f"<w:tr>{f'<w:tc><w:tcPr>{properties}</w:tcPr>{_PARAGRAPH}</w:tc>' * cells}</w:tr>"
    return f"<w:tbl>{row * rows}</w:tbl>"


def _fields(count: int) -> str:
    begin, end = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>', '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    return f"<w:p>{begin * count}<w:r><w:t>a</w:t></w:r>{end * count}</w:p>"


def workbook(rows: str, after: str = "", before: str = "", strings: str = "", **parts: str) -> bytes:
    """A workbook with a sheet of these rows, and markup before and after them."""
    sheet = cells(rows).replace("<sheetData>", f"{before}<sheetData>").replace("</sheetData>", f"</sheetData>{after}")
    return zipped(xlsx(sheet, strings and f'<sst xmlns="{SHEET}">{strings}</sst>', **parts))


def _styled_workbook(styles: str, rows: str) -> bytes:
    parts = xlsx(cells(rows))
    at = "xl/_rels/workbook.xml.rels"
    parts[at] = str(parts[at]).replace("</Relationships>", _relation("styles", "styles.xml") + "</Relationships>")
    parts["xl/styles.xml"] = f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>'
    return zipped(parts)


def many_sheets(count: int, rows: str = "") -> bytes:
    """A workbook whose sheets are all in one part."""
    parts = xlsx(cells(rows))
    listed = _many('<sheet name="S{0}" sheetId="1" r:id="s{0}"/>', count)
    parts["xl/workbook.xml"] = f'<workbook xmlns="{SHEET}" {_R}><sheets>{listed}</sheets></workbook>'
    relations = _many(f'<Relationship Id="s{{0}}" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>', count)
    parts["xl/_rels/workbook.xml.rels"] = _RELATIONS.format(relations)
    return zipped(parts)


def named_ranges(count: int) -> bytes:
    """A workbook of very many defined names."""
    parts = xlsx(cells("<row><c><v>1</v></c></row>"))
    names = _many('<definedName name="n{0}">S!$A$1:$XFD$1048576</definedName>', count)
    main = str(parts["xl/workbook.xml"])
    parts["xl/workbook.xml"] = main.replace("</sheets>", f"</sheets><definedNames>{names}</definedNames>")
    return zipped(parts)


def drawings(charts: int, points: int) -> bytes:
    """A workbook of charts with very many cached values."""
    parts = xlsx(cells("<row><c><v>1</v></c></row>"))
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = _RELATIONS.format(_relation("drawing", "../drawings/d.xml"))
    parts["xl/drawings/d.xml"] = "<d/>"
    parts["xl/drawings/_rels/d.xml.rels"] = _RELATIONS.format(
        _many(f'<Relationship Id="c{{0}}" Type="{OFFICE}/chart" Target="../charts/c.xml"/>', charts)
    )
    cached = _many("<c:pt idx='{0}'><c:v>1</c:v></c:pt>", points)
    parts["xl/charts/c.xml"] = f'<c:chart xmlns:c="urn:c"><c:f>S!$A$1:$A$9</c:f>{cached}</c:chart>'
    return zipped(parts)


def _decoded(part: str | bytes) -> str:
    return part if isinstance(part, str) else part.decode()


def deck(slide: str, count: int = 1, *, same: bool = False) -> bytes:
    """A presentation whose slides each have these shapes. With `same`, all of them are one part."""
    import io
    import zipfile

    from pptx import Presentation

    written, out = Presentation(), io.BytesIO()
    for _ in range(1 if same else count):
        written.slides.add_slide(written.slide_layouts[6])
    written.save(out)
    page = f"<p:sld {_P} {_A} {_R}><p:cSld><p:spTree>{_HEAD}{slide}</p:spTree></p:cSld></p:sld>"
    with zipfile.ZipFile(out) as archive:
        parts: dict[str, str | bytes] = {
            each: page if each.startswith("ppt/slides/slide") else archive.read(each) for each in archive.namelist()
        }
    if same:
        listed = "".join(f'<p:sldId id="{n}" r:id="q{n}"/>' for n in range(256, count + 256))
        text = _decoded(parts["ppt/presentation.xml"])
        start, end = text.index("<p:sldId "), text.index("</p:sldIdLst>")
        parts["ppt/presentation.xml"] = text[:start] + listed + text[end:]
        more = _many(f'<Relationship Id="q{{0}}" Type="{OFFICE}/slide" Target="slides/slide1.xml"/>', count + 256)
        at = "ppt/_rels/presentation.xml.rels"
        parts[at] = _decoded(parts[at]).replace("</Relationships>", more + "</Relationships>")
    return zipped(parts)


_BOX = (
    "<p:sp><p:nvSpPr><p:cNvPr id='2' name='a'/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x='0' y='0'/>"
    "<a:ext cx='9000000' cy='9000000'/></a:xfrm><a:solidFill><a:srgbClr val='FF0000'/></a:solidFill></p:spPr>"
    "<p:txBody><a:bodyPr/>{}</p:txBody></p:sp>"
)
_TEXT = "<a:p><a:r><a:t>a</a:t></a:r></a:p>"
_GROUP = "<p:grpSp><p:nvGrpSpPr><p:cNvPr id='2' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"
_FRAME = (
    "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='2' name='a'/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
    "<p:xfrm><a:off x='0' y='0'/><a:ext cx='9' cy='9'/></p:xfrm><a:graphic><a:graphicData "
    "uri='http://schemas.openxmlformats.org/drawingml/2006/table'><a:tbl>{}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
)


def _formulas(count: int) -> str:
    return _many('<row r="{0}"><c r="A{0}"><f>SUM(A1:XFD1048576)*1+2+3</f><v>1</v></c></row>', count)


def _conditional(count: int) -> str:
    rule = (
        '<conditionalFormatting sqref="A1:XFD1048576"><cfRule type="expression" dxfId="0"><formula>1</formula></cfRule>'
    )
    return (rule + "</conditionalFormatting>") * count


_WAYS: dict[tuple[str, str], Callable[[], bytes]] = {
    ("numbering styles in a loop", "a.docx"): lambda: _numbering(5000),
    ("tables beside each other", "a.docx"): lambda: document(_wide_row(1, 1) * 10_000),
    ("cells of one row", "a.docx"): lambda: document(_wide_row(20_000, 1)),
    ("cells with spans", "a.docx"): lambda: document(_wide_row(60, 300, '<w:gridSpan w:val="9"/><w:vMerge/>')),
    ("merged cells of huge spans", "a.docx"): lambda: document(_wide_row(50, 100, '<w:gridSpan w:val="99999"/>')),
    ("nested tables with rows", "a.docx"): lambda: document(
        ("<w:tbl>" + "<w:tr><w:tc><w:p/></w:tc></w:tr>" * 20 + "<w:tr><w:tc>") * 60
        + "<w:p/>" + "<w:p/></w:tc></w:tr></w:tbl>" * 60
    ),
    ("nested fields", "a.docx"): lambda: document(_fields(40_000)),
    ("nested content controls", "a.docx"): lambda: document(
        "<w:sdt><w:sdtContent>" * 60 + _PARAGRAPH * 5000 + "</w:sdtContent></w:sdt>" * 60
    ),
    ("alternatives within alternatives", "a.docx"): lambda: document(
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="wps">' * 60 + _PARAGRAPH * 3000 + f"</mc:Choice><mc:Fallback>{_PARAGRAPH * 20}</mc:Fallback></mc:AlternateContent>" * 60
    ),
    ("notes", "a.docx"): lambda: document(
        _many('<w:p><w:r><w:footnoteReference w:id="{0}"/></w:r></w:p>', 8000),
        footnotes=_many(f'<w:footnote w:id="{{0}}">{_PARAGRAPH}</w:footnote>', 8000),
    ),
    ("one note, referred to very often", "a.docx"): lambda: document(
        '<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>' * 8000,
        footnotes=f'<w:footnote w:id="1">{_PARAGRAPH * 500}</w:footnote>',
    ),
    ("a namespace for each element", "a.docx"): lambda: document(_many('<x:a xmlns:x="urn:{0}"/>', 60_000)),
    ("attributes", "a.docx"): lambda: document("<w:p " + _many("a{0}='1' ", 60_000) + "/>"),
    ("bookmarks", "a.docx"): lambda: document(
        "<w:p>" + _many('<w:bookmarkStart w:id="{0}" w:name="n{0}"/>', 40_000) + "</w:p>"
    ),
    ("runs of one paragraph", "a.docx"): lambda: document("<w:p>" + "<w:r><w:t>a</w:t></w:r>" * 30_000 + "</w:p>"),
    ("text boxes", "a.docx"): lambda: document(
        ("<w:p><w:r><w:pict><w:txbxContent>" + _PARAGRAPH + "</w:txbxContent></w:pict></w:r></w:p>") * 8000
    ),
    ("a million references to strings", "a.xlsx"): lambda: workbook(
        ("<row>" + "<c t='s'><v>0</v></c>" * 400 + "</row>") * 1000, strings="<si><t>" + "w" * 240 + "</t></si>"
    ),
    ("shared strings of many runs", "a.xlsx"): lambda: workbook(
        "<row><c t='s'><v>0</v></c></row>", strings="<si>" + "<r><t>a</t></r>" * 400_000 + "</si>"
    ),
    ("huge merged ranges", "a.xlsx"): lambda: workbook(
        "<row><c><v>1</v></c></row>" * 3000,
        "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 20_000 + "</mergeCells>",
    ),
    ("merged cells in each row", "a.xlsx"): lambda: workbook(
        "<row><c><v>1</v></c></row>" * 9000,
        "<mergeCells>" + _many('<mergeCell ref="A{0}:XFD1048576"/>', 9000) + "</mergeCells>",
    ),
    ("columns of all widths", "a.xlsx"): lambda: workbook(
        "<row><c><v>1</v></c></row>" * 100, before="<cols>" + '<col min="1" max="16384" width="0"/>' * 40_000 + "</cols>"
    ),
    ("conditional formats", "a.xlsx"): lambda: workbook("<row><c><v>1</v></c></row>" * 20_000, _conditional(30_000)),
    ("formulas", "a.xlsx"): lambda: workbook(_formulas(60_000)),
    ("cell styles", "a.xlsx"): lambda: _styled_workbook(
        "<fonts>" + '<font><color theme="1" tint="0.5"/></font>' * 100_000 + "</fonts><fills>"
        + "<fill><gradientFill>" + "<stop><color rgb='FF0000FF'/></stop>" * 2000 + "</gradientFill></fill></fills><cellXfs>"
        + '<xf fontId="99999" fillId="0"/>' * 60_000 + "</cellXfs>",
        '<row><c s="9"><v>1</v></c></row>' * 100,
    ),
    ("number formats", "a.xlsx"): lambda: _styled_workbook(
        "<numFmts>" + _many('<numFmt numFmtId="{0}" formatCode="' + "[Red]" * 500 + '0;"a"{0}"/>', 3000) + "</numFmts><cellXfs>"
        + _many('<xf numFmtId="{0}"/>', 3000) + "</cellXfs>",
        _many('<row><c s="{0}"><v>1</v></c></row>', 3000),
    ),
    ("sheets in one part", "a.xlsx"): lambda: many_sheets(2000, "<row><c><v>1</v></c></row>" * 400),
    ("a hundred thousand sheets", "a.xlsx"): lambda: many_sheets(100_000),
    ("named ranges", "a.xlsx"): lambda: named_ranges(60_000),
    ("charts of cached values", "a.xlsx"): lambda: drawings(3000, 20_000),
    ("a row of very many cells", "a.xlsx"): lambda: workbook("<row>" + "<c><v>1</v></c>" * 16_384 + "</row>"),
    ("rows with spans of the sheet", "a.xlsx"): lambda: workbook(
        _many('<row r="{0}"><c r="A{0}"><v>1</v></c><c r="XFD{0}"><v>1</v></c></row>', 40_000)
    ),
    ("empty rows", "a.xlsx"): lambda: workbook('<row hidden="1"/>' * 290_000, "<mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>"),
    ("slides in one part", "a.pptx"): lambda: deck(_BOX.format(_TEXT * 50), 8000, same=True),
    ("a hundred thousand slides", "a.pptx"): lambda: deck("", 100_000, same=True),
    ("nested groups", "a.pptx"): lambda: deck(_GROUP * 90 + _BOX.format(_TEXT) * 4000 + "</p:grpSp>" * 90),
    ("paragraphs", "a.pptx"): lambda: deck(_BOX.format(_TEXT * 60_000)),
    ("shapes that cover each other", "a.pptx"): lambda: deck(_BOX.format(_TEXT) * 5000),
    ("cells of a table", "a.pptx"): lambda: deck(
        _FRAME.format(("<a:tr h='9'>" + f"<a:tc><a:txBody><a:bodyPr/>{_TEXT}</a:txBody></a:tc>" * 200 + "</a:tr>") * 200)
    ),
    ("tables", "a.pptx"): lambda: deck(
        _FRAME.format(f"<a:tr h='9'><a:tc><a:txBody><a:bodyPr/>{_TEXT}</a:txBody></a:tc></a:tr>") * 4000
    ),
}  # fmt: skip

_OFTEN = frozenset((
    "named ranges", "huge merged ranges", "columns of all widths", "one note, referred to very often", "slides in one part",
))  # fmt: skip
"""Shapes that the suite tries on every run."""

SHAPES: tuple[Shape, ...] = tuple(Shape(name, file, make, brief=name in _OFTEN) for (name, file), make in _WAYS.items())
"""Every shape of Office files."""
