"""Small files that once cost much: each is generated, none is larger than a megabyte."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping

from attrs import frozen

from tests.faults.hostile.pdf_files import packed, pages, pdf, stream
from tests.faults.hostile.zips import PAGE, SHEET, book, cells, package, xlsx


@frozen
class Shape:
    """`make` gives the bytes of a file called `file`; `brief` ones are tried by the suite."""

    name: str
    file: str
    make: Callable[[], bytes]
    brief: bool = True


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


def repeated(piece: str, size: int, before: str = "", after: str = "") -> bytes:
    """`piece` over and over, up to `size` bytes."""
    return (before + piece * (size // len(piece.encode())) + after).encode()


def _nested(opening: str, closing: str, count: int, middle: str = "x") -> str:
    return opening * count + middle + closing * count


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
)
"""Every shape, the known ones and those that a search found."""
