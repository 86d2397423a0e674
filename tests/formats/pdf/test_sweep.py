"""What no page needs to look as it does is not in evidence; which says PDFium, and the objects themselves."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from pathlib import Path

import pymupdf
import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.domain.digest import Digest
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.source import Source

FILE = "<</Type/Filespec/F(evil.exe)/UF(evil.exe)/EF<</F 31 0 R>>>>"
DRAWN = "/Type/XObject/Subtype/Form/BBox[0 0 200 200]"
SCRIPT = "<</S/JavaScript/JS(evil)>>"

HOSTILE = {
    "a form that stands for a page of another file": {
        30: f"<<{DRAWN}/Ref<</F(evil.pdf)/Page 0>>>>",
        5: "<</Resources<</XObject<</X 30 0 R>>>>>>",
    },
    "private data and metadata of a form": {
        30: f"<<{DRAWN}/PieceInfo<</Evil<</Private(evil)>>>>/Metadata 31 0 R/OPI<</2.0<</F(evil)>>>>>>",
        5: "<</Resources<</XObject<</X 30 0 R>>>>>>",
    },
    "a stream that lies in another file": {
        30: f"<<{DRAWN}/F(/etc/evil)/FFilter/FlateDecode/FDecodeParms<</Evil(evil)>>>>",
        5: "<</Resources<</XObject<</X 30 0 R>>>>>>",
    },
    "scripts and files of marked content": {
        30: FILE,
        5: f"<</Resources<</Properties<</P<</JS{SCRIPT}/AF[30 0 R]/AA<</O{SCRIPT}>>>>>>>>>>",
    },
    "files of a form": {30: f"<<{DRAWN}/AF[32 0 R]>>", 32: FILE, 5: "<</Resources<</XObject<</X 30 0 R>>>>>>"},
    "scripts of layers": {
        1: f"<</OCProperties<</OCGs[30 0 R]/D<</Order[30 0 R]/Evil(evil)/Configs[]>>/X{SCRIPT}>>>>",
        30: f"<</Type/OCG/Name(a)/AA<</O{SCRIPT}>>/Evil(evil)>>",
    },
    "entries of some program's own": {
        30: f"<<{DRAWN}/EvilData 32 0 R/Title(evil)/Resources<</Evil(evil)/ExtGState<</G 34 0 R>>>>>>",
        32: "<</Type/Evil/Said[(evil)]>>",
        33: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Evil(evil)/Title(evil)/FontDescriptor 35 0 R>>",
        34: "<</Type/ExtGState/ca 1/EvilState(evil)/Contents(evil)>>",
        35: "<</Type/FontDescriptor/FontName/Helvetica/Flags 32/Evil<</Evil(evil)>>/T(evil)>>",
        36: "<</MCID 0/EvilWords(evil)/Metadata 31 0 R>>",
        5: "<</Thumb 31 0 R/Evil(evil)/PieceInfo<</Evil(evil)>>/Metadata 31 0 R/Resources"
        "<</EvilToo(evil)/XObject<</X 30 0 R>>/Font<</F 33 0 R>>/Properties<</P 36 0 R>>>>>>",
    },
    "a link in a formatted note": {
        5: "<</Annots[<</Type/Annot/Subtype/FreeText/Rect[9 9 99 99]/Contents(t)"
        '/RC(<body><a href="evil:x">t</a></body>)>>]>>',
    },
}
"""What is merged into the objects of a plain file, by their numbers: 1 is the catalog, 5 the page, 31 an embedded file."""


def written(path: Path, more: dict[int, str]) -> Path:
    """A file of one page, as the specification writes it."""
    objects = {
        1: "<</Type/Catalog/Pages 2 0 R",
        2: "<</Type/Pages/Kids[5 0 R]/Count 1>>",
        4: "<</Length 37>>\nstream\n0 1 0 rg 20 20 60 60 re f q /X Do Q  \nendstream",
        5: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R",
        31: "<</Type/EmbeddedFile/Length 4>>\nstream\nevil\nendstream",
    }
    for number, text in more.items():
        objects[number] = f"{objects[number]}{text[2:]}" if number in (1, 5) else text
    for number in {1, 5} - set(more):
        objects[number] += ">>"
    for number in [number for number, text in more.items() if DRAWN in text]:
        objects[number] = f"{more[number][:-2]}/Length 34>>\nstream\n1 0 0 rg 90 90 30 30 re f         \nendstream"
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in sorted(objects.items()))
    path.write_bytes(f"%PDF-1.7\n{body}trailer\n<</Root 1 0 R/Size 40>>\n%%EOF\n".encode("latin-1"))
    with pymupdf.open(path) as document:
        data = document.tobytes()
    path.write_bytes(data)  # with a table of its own, so that it counts as undamaged
    return path


def cut(path: Path, target: Path) -> Path:
    found = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    PyMuPdfExtractor().extract(found, Pages((1,)), Options(Form.PDF), target)
    return target


def objects_of(path: Path) -> str:
    with pymupdf.open(path) as document:
        return "\n".join(document.xref_object(xref, compressed=True) for xref in range(1, document.xref_length()))


def looks(path: Path) -> bytes:
    with pypdfium2.PdfDocument(path) as document:
        return bytes(document[0].render().buffer)


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_hostile_is_carried_and_the_page_looks_the_same(what: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.pdf", HOSTILE[what])

    mini = cut(path, tmp_path / "mini.pdf")

    assert "evil" in objects_of(path).lower()
    assert "evil" not in objects_of(mini).lower()
    assert looks(path) == looks(mini)
    with pypdfium2.PdfDocument(mini) as document:
        assert 0 == pdfium.FPDFDoc_GetAttachmentCount(document)
        assert 0 == pdfium.FPDFDoc_GetJavaScriptActionCount(document)


def test_names_that_an_author_chose_are_no_entries_of_the_format(tmp_path: Path) -> None:
    named = f"<<{DRAWN}>>"
    path = written(
        tmp_path / "a.pdf", {30: named, 32: "<</Ref 30 0 R/X 30 0 R>>", 5: "<</Resources<</XObject 32 0 R>>>>"}
    )
    direct = written(tmp_path / "b.pdf", {30: named, 5: "<</Resources<</XObject<</AF 30 0 R/X 30 0 R>>>>>>"})

    assert "/Ref" in objects_of(cut(path, tmp_path / "mini.pdf"))
    assert "/AF" in objects_of(cut(direct, tmp_path / "other.pdf"))


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("/X Do", {5: "<</Resources<</XObject<</Type/XObject/Im0 32 0 R/X 30 0 R>>>>>>", 30: f"<<{DRAWN}>>"}),
        ("/G gs 9 9 99 99 re f", {5: "<</Resources<</ExtGState<</G 33 0 R>>>>>>", 33: "<</Type/Font/ca .3>>"}),
        (
            "/Pattern cs /P scn 9 9 99 99 re f",
            {
                5: "<</Resources<</Pattern<</P 30 0 R>>>>>>",
                30: f"<<{DRAWN}/PatternType 1/PaintType 1/TilingType 1/XStep 150/YStep 150/Resources<<>>>>",
            },
        ),
    ],
    ids=["a list that says a type", "a state that says the type of a font", "a pattern that says the type of a form"],
)
def test_a_type_that_is_mistaken_takes_nothing_away(content: str, more: dict[int, str], tmp_path: Path) -> None:
    drawing = f"<</Length {len(content)}>>\nstream\n{content}\nendstream"
    path = written(tmp_path / "a.pdf", {**more, 4: drawing})

    mini = cut(path, tmp_path / "mini.pdf")

    assert len(set(looks(path))) > 1
    assert looks(path) == looks(mini)


def test_of_what_a_document_says_of_itself_the_usual_entries_stay(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pdf", {})
    with pymupdf.open(path) as document:
        document.set_metadata({"title": "Kept"})
        document.xref_set_key(int(document.xref_get_key(-1, "Info")[1].split()[0]), "Evil", "(evil)")
        document.saveIncr()

    mini = objects_of(cut(path, tmp_path / "mini.pdf"))

    assert "evil" in objects_of(path)
    assert ("Kept" in mini, "evil" in mini) == (True, False)


def test_a_note_that_is_only_formatted_stays_so(tmp_path: Path) -> None:
    rich = '<?xml version="1.0"?><body xmlns="http://www.w3.org/1999/xhtml"><p style="color:#f00"><b>t</b></p></body>'
    note = f"<</Annots[<</Type/Annot/Subtype/FreeText/Rect[9 9 99 99]/Contents(t)/RC({rich})>>]>>"

    mini = cut(written(tmp_path / "a.pdf", {5: note}), tmp_path / "mini.pdf")

    assert rich in objects_of(mini)


def test_a_damaged_file_is_swept_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pdf", HOSTILE["files of a form"])
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"startxref")])

    mini = cut(path, tmp_path / "mini.pdf")

    assert "evil" not in objects_of(mini)
