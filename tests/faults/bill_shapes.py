"""Small files that once cost much: each is generated, none is larger than a megabyte."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping

from attrs import frozen

from tests.faults.hostile.pdf_files import packed, pages, pdf, stream
from tests.faults.hostile.zips import OFFICE, PAGE, SHEET, WORD, book, cells, docx, package, words, xlsx

_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


@frozen
class Shape:
    """`make` gives the bytes of a file called `file`; `brief` ones are tried by the suite.

    If `is_refused`, only the limits of the sandbox keep it cheap: it is tried through the server (`served`), not without them.
    """

    name: str
    file: str
    make: Callable[[], bytes]
    brief: bool = True
    is_refused: bool = False


def zipped(items: Mapping[str, str | bytes]) -> bytes:
    """A package of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in items.items():
            archive.writestr(
                zipfile.ZipInfo(name), content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            )
    return out.getvalue()


def nested_forms(levels: int = 8, times: int = 8, leaf: bytes = b"BT /F1 9 Tf 40 700 Td (word) Tj ET") -> bytes:
    """A PDF whose page draws a form that draws another one several times, and so on: `times` to the power of `levels`."""
    objects = pages("", "/Resources<</Font<</F1 3 0 R>>/XObject<</X 100 0 R>>>>/Contents 99 0 R")
    objects[99] = stream(b"/X Do")
    for number in range(100, 100 + levels):
        last = number == 99 + levels
        below = "/Resources<</Font<</F1 3 0 R>>" + ("" if last else f"/XObject<</X {number + 1} 0 R>>") + ">>"
        content = leaf if last else b"/X Do\n" * times
        objects[number] = stream(content, f"/Type/XObject/Subtype/Form/BBox[0 0 600 850]{below}")
    return pdf(objects)


def nested_masks(levels: int = 10, times: int = 8) -> bytes:
    """As `nested_forms`, by soft masks, each of whose groups sets the next one several times."""
    objects = pages("", "/Resources<</Font<</F1 3 0 R>>/ExtGState<</G 100 0 R>>>>/Contents 99 0 R")
    objects[99] = stream(b"/G gs 0 0 500 500 re f")
    for number in range(levels):
        at = 100 + 2 * number
        below = f"/ExtGState<</G {at + 2} 0 R>>" if number + 1 < levels else ""
        objects[at] = f"<</Type/ExtGState/SMask<</S/Luminosity/G {at + 1} 0 R>>>>"
        objects[at + 1] = stream(
            (b"/G gs " if below else b"") * times + b"0 0 500 500 re f",
            f"/Type/XObject/Subtype/Form/BBox[0 0 600 850]/Group<</S/Transparency/CS/DeviceGray>>/Resources<<{below}>>",
        )
    return pdf(objects)


def nested_patterns(levels: int = 10, times: int = 8) -> bytes:
    """As `nested_forms`, by tiling patterns, each of which fills with the next one."""
    objects = pages("", "/Resources<</Pattern<</P 100 0 R>>>>/Contents 99 0 R")
    objects[99] = stream(b"/Pattern cs /P scn 0 0 500 500 re f")
    for number in range(100, 100 + levels):
        last = number == 99 + levels
        below = "" if last else f"/Pattern<</P {number + 1} 0 R>>"
        content = b"0 0 5 5 re f" if last else b"/Pattern cs /P scn 0 0 50 50 re f\n" * times
        objects[number] = stream(
            content,
            f"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 50 50]/XStep 1/YStep 1/Resources<<{below}>>",
        )
    return pdf(objects)


def nested_glyphs(levels: int = 8, times: int = 8) -> bytes:
    """As `nested_forms`, within the glyphs of a font of type 3."""
    objects = pages("", "/Resources<</Font<</F1 90 0 R>>>>/Contents 99 0 R")
    objects[99] = stream(b"BT /F1 20 Tf 40 700 Td (" + b"a" * 2000 + b") Tj ET")
    objects[90] = (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 10 10]/FontMatrix[.1 0 0 .1 0 0]/FirstChar 97/LastChar 97/Widths[10]"
        "/Encoding<</Type/Encoding/Differences[97/a]>>/CharProcs<</a 91 0 R>>/Resources<</XObject<</X 100 0 R>>>>>>"
    )
    objects[91] = stream(b"10 0 0 0 10 10 d1 /X Do")
    for number in range(100, 100 + levels):
        last = number == 99 + levels
        below = "" if last else f"/Resources<</XObject<</X {number + 1} 0 R>>>>"
        content = b"0 0 5 5 re f" if last else b"/X Do\n" * times
        objects[number] = stream(content, f"/Type/XObject/Subtype/Form/BBox[0 0 10 10]{below}")
    return pdf(objects)


def _words(count: int, line: int = 12) -> bytes:
    lines = [
        b"1 0 0 1 40 %d Tm (%s) Tj" % (800 - at % 780, b" ".join(b"word%d" % (at + each) for each in range(line)))
        for at in range(0, count, line)
    ]
    return b"BT /F1 8 Tf " + b"\n".join(lines) + b" ET"


def shared_content(count: int = 2000, words: int = 6000) -> bytes:
    """Pages that share one content stream."""
    objects = pages(count=count)
    objects[4] = packed(_words(words))
    return pdf(objects)


def many_words(count: int = 150_000) -> bytes:
    """One page of very many words."""
    objects = pages(count=1)
    objects[4] = packed(_words(count))
    return pdf(objects)


def blanks(megabytes: int = 600) -> bytes:
    """A content stream of blanks."""
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(b" " * 2**20) for _ in range(megabytes)) + packer.flush()
    objects = pages(count=1)
    objects[4] = stream(data, "/Filter/FlateDecode")
    return pdf(objects)


def letters_apart(count: int = 100_000) -> bytes:
    """One page of letters that are each placed by themselves, in no order."""
    objects = pages(count=1)
    shown = b"\n".join(
        b"1 0 0 1 %d %d Tm (a) Tj" % (at * 7919 % 560 + 20, at * 104729 % 780 + 20) for at in range(count)
    )
    objects[4] = packed(b"BT /F1 8 Tf " + shown + b" ET")
    return pdf(objects)


def many_cells(rows: int = 1000, columns: int = 1000) -> bytes:
    """A workbook of a million cells that pack well."""
    row = "<row>" + "<c><v>1</v></c>" * columns + "</row>"
    return zipped(xlsx(cells(row * rows)))


def repeated_string(rows: int = 2000) -> bytes:
    """A workbook whose cells all show one long shared string: two gigabytes of text in some kilobytes."""
    text = "word " * 6000
    strings = f'<sst xmlns="{SHEET}"><si><t>{text}</t></si></sst>'
    return zipped(xlsx(cells(("<row>" + '<c t="s"><v>0</v></c>' * 40 + "</row>") * rows), strings))


def notebook(count: int = 20_000, heading: str = "") -> bytes:
    """A notebook of very many cells."""
    cell: dict[str, object] = {
        "cell_type": "markdown" if heading else "code",
        "metadata": {},
        "source": [heading or "x = 1"],
    }
    if not heading:
        cell |= {"outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell] * count, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def ebook(content: str, **more: str | bytes) -> bytes:
    """A book of one chapter."""
    return zipped(book(page=PAGE.format(content), **more))


def spine(count: int = 20_000, content: str = "<p>" + "word " * 20_000 + "</p>") -> bytes:
    """A book whose spine names one page very often."""
    return ebook(content, package=package(spine='<itemref idref="a"/>' * count))


def items_of_one_page(count: int = 5000, content: str = "<p>" + "word " * 2000 + "</p>") -> bytes:
    """A book whose manifest gives one page many ids."""
    extra = "".join(f'<item id="p{n}" href="a.xhtml" media-type="application/xhtml+xml"/>' for n in range(count))
    return ebook(content, package=package(extra=extra, spine="".join(f'<itemref idref="p{n}"/>' for n in range(count))))


def contents(count: int) -> bytes:
    """A book of one chapter whose contents have very many entries."""
    extra = '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    entries = "".join(f'<li><a href="a.xhtml">Part {number}</a></li>' for number in range(count))
    page = PAGE.format(f'<nav xmlns:e="http://www.idpf.org/2007/ops" e:type="toc"><ol>{entries}</ol></nav>')
    return ebook("<p>a</p>", package=package(extra=extra), **{"nav.xhtml": page})


def navigation(kind: str, content: str) -> bytes:
    """A book of one chapter with a navigation document that is nested as `content` says."""
    extra = '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    page = PAGE.format(f'<div xmlns:e="http://www.idpf.org/2007/ops"><nav e:type="{kind}">{content}</nav></div>')
    return ebook("<p>a</p>", package=package(extra=extra), **{"nav.xhtml": page})


LINKS = '<li><a href="a.xhtml">a</a></li>' * 50_000


def picture_behind_text(side: int = 10_000) -> bytes:
    """A PDF whose text lies over a gray picture of very many pixels."""
    objects = pages(count=1, page="/Resources<</Font<</F1 3 0 R>>/XObject<</I 90 0 R>>>>/Contents 4 0 R")
    objects[4] = stream(b"q 500 0 0 700 40 60 cm /I Do Q BT /F1 12 Tf 60 500 Td (Some words on a picture.) Tj ET")
    objects[90] = packed(
        b"\x80" * side * side,
        f"/Type/XObject/Subtype/Image/Width {side}/Height {side}/ColorSpace/DeviceGray/BitsPerComponent 8",
    )
    return pdf(objects)


def many_areas(count: int = 150_000) -> bytes:
    """A PDF of one page with very many filled rectangles, and a line of text."""
    objects = pages(count=1)
    areas = b"\n".join(b"%d %d 9 9 re f" % (at * 7 % 590, at * 11 % 830) for at in range(count))
    objects[4] = packed(b".5 g " + areas + b" 0 g BT /F1 12 Tf 60 500 Td (Some words.) Tj ET")
    return pdf(objects)


def word_document(body: str, **more: str) -> bytes:
    """A Word document of this body, and other parts."""
    return zipped(docx(words("x").replace("<w:body>", f"<w:body>{body}"), **more))


def word_headings(count: int = 50_000) -> bytes:
    """A Word document of very many headings."""
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Part</w:t></w:r></w:p>'
    return word_document(heading * count)


def chained_styles(count: int = 8000) -> bytes:
    """A Word document with very many styles, each based on the one before, all of them used."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="s{n}"><w:name w:val="s{n}"/><w:basedOn w:val="s{n - 1}"/></w:style>'
        for n in range(count)
    )
    used = "".join(f'<w:p><w:pPr><w:pStyle w:val="s{n}"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>' for n in range(count))
    relation = f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
    document = words("x").replace("<w:body>", f"<w:body>{used}")
    return zipped(docx(document, relation, **{"word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>'}))


def nested_tables(depth: int = 300) -> bytes:
    """A Word document of tables within each other."""
    return word_document(_nested("<w:tbl><w:tr><w:tc>", "<w:p/></w:tc></w:tr></w:tbl>", depth, "<w:p/>"))


def table_rows(count: int = 2000) -> bytes:
    """A Word document with a table of very many rows."""
    row = f"<w:tr>{'<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>' * 3}</w:tr>"
    return word_document(f'<w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr>{row * count}</w:tbl>')


def slides(count: int = 300, shapes: int = 100) -> bytes:
    """A presentation of `count` slides, each with a title and `shapes` boxes of text."""
    from pptx import Presentation

    written, out = Presentation(), io.BytesIO()
    for _ in range(count):
        written.slides.add_slide(written.slide_layouts[6])
    written.save(out)
    box = (
        "<p:sp><p:nvSpPr><p:cNvPr id='2' name='a'/><p:cNvSpPr/><p:nvPr>{}</p:nvPr></p:nvSpPr><p:spPr/>"
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    boxes = box.format("<p:ph type='title'/>") + box.format("") * shapes
    head = "<p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"
    slide = (
        f'<p:sld xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}"><p:cSld><p:spTree>{head}{boxes}</p:spTree></p:cSld></p:sld>'
    )
    with zipfile.ZipFile(out) as archive:
        return zipped(
            {each: slide if each.startswith("ppt/slides/slide") else archive.read(each) for each in archive.namelist()}
        )


def repeated(piece: str, size: int, before: str = "", after: str = "") -> bytes:
    """`piece` over and over, up to `size` bytes."""
    return (before + piece * (size // len(piece.encode())) + after).encode()


def _nested(opening: str, closing: str, count: int, middle: str = "x") -> str:
    return opening * count + middle + closing * count


_SVG = '<svg xmlns="http://www.w3.org/2000/svg">'


def _numbered(piece: str, count: int) -> str:
    return "".join(piece.format(number) for number in range(count))


def _styled(count: int) -> bytes:
    """A page of very many elements, and of style rules that each match one of them."""
    rules = _numbered("p.c{} b i{{color:red}}", count)
    return f"<style>{rules}</style>{_numbered('<p class=c{}><b><i>a</i></b></p>', count)}".encode()


def _doubled_uses(levels: int) -> bytes:
    """A drawing whose groups each use the one before twice."""
    groups = "".join(f'<g id="g{n}"><use href="#g{n - 1}"/><use href="#g{n - 1}"/></g>' for n in range(1, levels))
    return f'{_SVG}<text id="g0">a</text>{groups}</svg>'.encode()


SHAPES: tuple[Shape, ...] = (
    Shape("forms", "a.pdf", nested_forms),
    Shape("forms of graphics", "a.pdf", lambda: nested_forms(9, 9, b"0 0 9 9 re f"), brief=False),
    Shape("patterns", "a.pdf", nested_patterns),
    Shape("glyphs", "a.pdf", nested_glyphs),
    Shape("shared content", "a.pdf", shared_content, brief=False),
    Shape("letters apart", "a.pdf", letters_apart, brief=False),
    Shape("blanks", "a.pdf", blanks, brief=False),
    Shape("masks", "a.pdf", nested_masks, brief=False),
    Shape("many words", "a.pdf", many_words, brief=False),
    Shape("heredocs", "a.sh", lambda: repeated("<<A", 112_000), brief=False),
    Shape("heredocs on lines", "a.sh", lambda: repeated("cat <<A\n", 112_000), brief=False),
    Shape("heredocs, large", "a.sh", lambda: repeated("<<A ", 900_000), brief=False),
    Shape("quoted heredocs", "a.pl", lambda: repeated('<<"', 112_000)),
    Shape("quoted heredocs, large", "a.pl", lambda: repeated('<<"', 900_000), brief=False),
    Shape("heredocs of Ruby", "a.rb", lambda: repeated("<<~A ", 112_000), brief=False),
    Shape("type arguments", "a.ts", lambda: repeated("a<", 900_000)),
    Shape("conditions and arrows", "a.ex", lambda: b"a<a(-" + repeated("#if a\n", 450_000) + repeated("=>", 450_000)),
    Shape("heredocs after semicolons", "a.sh", lambda: repeated("<<A;", 112_000), brief=False),
    Shape("empty heredocs", "a.sh", lambda: repeated("<<A\nA\n", 900_000), brief=False),
    Shape("heredocs in functions", "a.sh", lambda: repeated("f(){ <<A\n", 112_000), brief=False),
    Shape("one long string in every cell", "repeated.xlsx", repeated_string),
    Shape("cells", "a.xlsx", many_cells, brief=False),
    Shape("cells, nearly too many", "a.xlsx", lambda: many_cells(499, 1000), brief=False),
    Shape("cells, more", "a.xlsx", lambda: many_cells(4000, 1000), brief=False),
    Shape("notebook", "a.ipynb", lambda: notebook(8000), brief=False),
    Shape("notebook of headings", "a.ipynb", lambda: notebook(8000, "# a"), brief=False),
    Shape("inline elements", "a.epub", lambda: ebook("<p>" + "<b>a</b>" * 400_000 + "</p>"), brief=False),
    Shape("nested elements", "a.epub", lambda: ebook(_nested("<div>", "</div>", 100_000)), brief=False),
    Shape("nested inline elements", "a.epub", lambda: ebook(_nested("<b>", "</b>", 200)), brief=False),
    Shape("paragraphs", "a.epub", lambda: ebook("<p>a</p>" * 400_000), brief=False),
    Shape("headings", "a.epub", lambda: ebook("<h2>a</h2>" * 4_000), brief=False),
    Shape("anchors", "a.epub", lambda: ebook("".join(f'<a id="x{n}"/>' for n in range(100_000))), brief=False),
    Shape("spine", "a.epub", spine, brief=False),
    Shape("items of one page", "a.epub", items_of_one_page, brief=False),
    Shape("very many headings", "a.epub", lambda: ebook("<h2>a</h2>" * 100_000), brief=False, is_refused=True),
    Shape(
        "links within links",
        "a.epub",
        lambda: navigation("toc", _nested('<li><a href="a.xhtml">', "</a></li>", 900, LINKS)),
        brief=False,
    ),
    Shape(
        "page lists within page lists",
        "a.epub",
        lambda: navigation("page-list", _nested('<nav e:type="page-list">', "</nav>", 1800, LINKS)),
        brief=False,
    ),
    Shape("blanks in preformatted text", "a.epub", lambda: ebook("<pre>" + " <b/>" * 250_000 + "</pre>"), brief=False),
    Shape("entries of the contents", "a.epub", lambda: contents(100_000), brief=False),
    Shape(
        "bold paragraphs that are headings",
        "a.md",
        lambda: repeated("**<b>a\n=\n", 900_000),
        brief=False,
        is_refused=True,
    ),
    Shape("a picture behind text", "a.pdf", picture_behind_text, brief=False),
    Shape("areas", "a.pdf", many_areas, brief=False, is_refused=True),
    Shape("headings of Word", "a.docx", word_headings, brief=False, is_refused=True),
    Shape("chained styles", "a.docx", chained_styles, brief=False, is_refused=True),
    Shape("rows of a table", "a.docx", table_rows, brief=False),
    Shape("nested tables", "a.docx", nested_tables, brief=False),
    Shape("slides", "a.pptx", slides, brief=False, is_refused=True),
    Shape("text boxes", "a.pptx", lambda: slides(1, 100_000), brief=False),
    Shape("headings", "a.html", lambda: repeated("<h2>a</h2>", 900_000), brief=False),
    Shape("sections", "a.html", lambda: repeated("<h2>a</h2><p>b", 900_000), brief=False, is_refused=True),
    Shape("nested lists", "a.html", lambda: _nested("<ul><li>", "</li></ul>", 45_000).encode(), brief=False),
    Shape("nested inline elements", "a.html", lambda: repeated("<p><b><i><u>a", 900_000), brief=False, is_refused=True),
    Shape(
        "cells of a table", "a.html", lambda: repeated("<td>a", 900_000, "<table><tr>"), brief=False, is_refused=True
    ),
    Shape("ids", "a.html", lambda: _numbered('<a id="x{0}" href="#x{0}">a</a>', 30_000).encode(), brief=False),
    Shape("style rules", "a.html", lambda: _styled(10_000), brief=False),
    Shape("texts", "a.svg", lambda: repeated("<text>a</text>", 900_000, _SVG, "</svg>"), brief=False),
    Shape("nested groups", "a.svg", lambda: (_SVG + _nested("<g>", "</g>", 100_000) + "</svg>").encode(), brief=False),
    Shape("uses", "a.svg", lambda: _doubled_uses(20), brief=False),
    Shape("cues", "a.srt", lambda: repeated("1\n00:00:01,000 --> 00:00:02,000\na\n\n", 900_000), brief=False),
    Shape("cues", "a.vtt", lambda: repeated("00:01.000 --> 00:02.000\na\n\n", 900_000, "WEBVTT\n\n"), brief=False),
    Shape("rows", "a.csv", lambda: repeated("a,b\n", 900_000), brief=False),
    Shape("columns", "a.csv", lambda: repeated("a,", 900_000), brief=False),
    Shape("keys", "a.json", lambda: ("{" + _numbered('"k{}":{{"a":1}},', 40_000) + '"z":1}').encode(), brief=False),
    Shape("nested arrays", "a.json", lambda: _nested("[", "]", 400_000, "1").encode(), brief=False),
    Shape("records", "a.json", lambda: repeated('{"title":"a","b":[1,2]},', 900_000, "[", "1]"), brief=False),
    Shape("elements", "a.xml", lambda: repeated("<a b='c'/>", 900_000, "<r>", "</r>"), brief=False),
    Shape("nested elements", "a.xml", lambda: _nested("<a>", "</a>", 120_000).encode(), brief=False),
    Shape("headings", "a.md", lambda: repeated("# a\n", 900_000), brief=False, is_refused=True),
    Shape("nested quotations", "a.md", lambda: repeated("> ", 900_000), brief=False),
    Shape("lists", "a.md", lambda: repeated("- a\n", 900_000), brief=False),
    Shape("links", "a.md", lambda: repeated("[a][b] ", 900_000), brief=False),
    Shape("bodies beside their functions", "a.dart", lambda: repeated("int f() => 1;\n", 900_000), brief=False),
    Shape("signatures", "a.hs", lambda: repeated("f :: Int\n", 900_000, "module A where\n"), brief=False),
    Shape("lines", "a.txt", lambda: repeated("Part one\n\nwords\n\n", 900_000), brief=False, is_refused=True),
)
"""Shapes of all formats; `bills.SHAPES` has those of Office files and recordings, too."""
