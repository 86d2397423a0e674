"""What Word documents have in addition to their text: comments, tracked changes, headers; and files attached to a PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from citekit import CiteKit
from tests.formats.office.office_files import _P, _R, _W, document, paragraph, write_docx

ANNOTATED = (
    paragraph("One", "berschrift1") + '<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>The total is </w:t></w:r>'
    '<w:ins w:id="1" w:author="Ann" w:date="2024-05-06T10:00:00Z"><w:r><w:t>twelve</w:t></w:r></w:ins>'
    '<w:del w:id="2" w:author="Ben"><w:r><w:delText>thirteen</w:delText></w:r></w:del><w:r><w:t>.</w:t></w:r>'
    '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r></w:p>' + paragraph("Two", "berschrift1")
)
COMMENTS = (
    f'<w:comments xmlns:w="{_W}"><w:comment w:id="0" w:author="Ben &amp; Co" w:initials="B"><w:p><w:r>'
    "<w:t>Is this number audited &lt;really&gt;?</w:t></w:r></w:p></w:comment></w:comments>"
)
HEADER = f'<w:hdr xmlns:w="{_W}">{paragraph("Strictly confidential")}</w:hdr>'
RELATIONS = "".join(
    f'<Relationship Id="r{number}" Type="{_R}/{kind}" Target="{kind}.xml"/>'
    for number, kind in enumerate(("styles", "comments", "header", "footer"))
)


def annotated(path: Path, **parts: str) -> Path:
    known = {
        "word__document.xml": document(ANNOTATED),
        "word__comments.xml": COMMENTS,
        "word__header.xml": HEADER,
        "word__footer.xml": "<not XML",
        "word___rels__document.xml.rels": f'<Relationships xmlns="{_P}/relationships">{RELATIONS}</Relationships>',
    }
    return write_docx(path, "", **{**known, **parts})


def test_comments_are_found_and_changes_and_headers_are_in_the_notes(tmp_path: Path) -> None:
    kit = CiteKit(home=tmp_path / "home")
    found = kit.ingest(annotated(tmp_path / "a.docx"))

    assert ["One", "Two", "Comments"] == [node.title for node in found.nodes]
    assert [
        "The document has tracked changes by Ann and Ben: 1 insertion in the text, and 1 deletion that the text leaves out.",
        "The document has 1 comment, which the last chapter lists.",
        "Headers and footers are not part of the text: Strictly confidential.",
    ] == found.metadata["notes"]
    hits = kit.find_text("number audited").hits
    assert ["doc://a#chapter=3"] == [str(hit.address).partition("&")[0] for hit in hits]
    assert "exact" == kit.verify_quote("a", "Ben & Co: Is this number audited <really>?").finding
    assert "exact" == kit.verify_quote("a", "The total is twelve.").finding


def test_a_note_names_the_files_attached_to_a_pdf(tmp_path: Path) -> None:
    import pymupdf

    path = tmp_path / "a.pdf"
    made: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    made.new_page()
    made.embfile_add("Budget.xlsx", b"1")
    made.embfile_add("b", b"2", filename="Über uns.txt")
    made.save(path)
    plain = CiteKit(home=tmp_path / "home").ingest(path).metadata["notes"]
    made.xref_set_key(made.pdf_catalog(), "Collection", "<</View/T>>")
    made.save(tmp_path / "b.pdf")
    portfolio = CiteKit(home=tmp_path / "home").ingest(tmp_path / "b.pdf").metadata["notes"]

    assert (
        "The file has 2 attached files, which the map leaves out: Budget.xlsx, Über uns.txt. To map them, save them "
        "with a PDF program." in plain
    )
    assert any(note.startswith("The file is a portfolio of 2 attached files") for note in portfolio)
