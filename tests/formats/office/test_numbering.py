"""The numbers that Word prints before automatically numbered headings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.office.office_files import paragraph, write_docx
from tests.formats.office.test_false_headings import LOWER, TOP
from tests.formats.office.test_titles import PROSE, outline

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_R}/styles" Target="styles.xml"/>'
    f'<Relationship Id="rId2" Type="{_R}/numbering" Target="numbering.xml"/></Relationships>'
)


def level(at: int, text: str, form: str = "decimal", more: str = "", start: int = 1) -> str:
    """A level of a list."""
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


def member(at: int, of: int = 5) -> str:
    """The properties of a member of a list."""
    return f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{of}"/></w:numPr>'


def titles(folder: Path, levels: str, body: str, lists: str = "", **parts: str) -> list[str]:
    """The titles of the chapters of a document and of their sections, without openings."""
    numbering = (
        f'<w:numbering xmlns:w="{_W}"><w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
        f'<w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num>{lists}</w:numbering>'
    )
    parts = {f"{name}.xml": text for name, text in parts.items()}
    parts |= {"word__numbering.xml": numbering, "word___rels__document.xml.rels": _RELATIONS}
    items = outline(write_docx(folder / "a.docx", body, **parts)).items
    return [each.title for item in items for each in (item, *item.children) if each.type != "opening"]


def heading(text: str, properties: str, style: str = TOP) -> str:
    return paragraph(text, style, properties) + PROSE


def test_headings_have_the_numbers_of_their_lists(tmp_path: Path) -> None:
    levels = level(0, "%1.") + level(1, "%1.%2")
    body = heading("Lakes", member(0)) + heading("Shores", member(1), LOWER) + heading("Reeds", member(1), LOWER)
    body += paragraph("an item of the same list", "", member(0)) + heading("Rivers", member(0))
    body += heading("Banks", member(1), LOWER) + heading("Thanks", "")

    assert titles(tmp_path, levels, body) == ["1. Lakes", "1.1 Shores", "1.2 Reeds", "3. Rivers", "3.1 Banks", "Thanks"]


def test_the_style_of_a_heading_can_have_a_list(tmp_path: Path) -> None:
    levels = level(0, "Part %1", "upperRoman", f'<w:pStyle w:val="{TOP}"/>') + level(
        1, "%1.%2", "lowerLetter", f'<w:isLgl/><w:pStyle w:val="{LOWER}"/>'
    )
    listed = '<w:pPr><w:numPr><w:numId w:val="5"/></w:numPr>'
    styles = (
        f'<w:styles xmlns:w="{_W}"><w:style w:type="paragraph" w:styleId="{TOP}"><w:name w:val="heading 1"/>{listed}</w:pPr>'
        f'</w:style><w:style w:type="paragraph" w:styleId="{LOWER}"><w:name w:val="heading 2"/>{listed}</w:pPr></w:style>'
        f'<w:style w:type="paragraph" w:styleId="Firma"><w:name w:val="X"/><w:basedOn w:val="{LOWER}"/></w:style></w:styles>'
    )
    body = heading("Lakes", "") + heading("Shores", "", LOWER) + heading("Rivers", "") + heading("Banks", "", "Firma")
    none = heading("Thanks", '<w:numPr><w:numId w:val="0"/></w:numPr>')

    assert titles(tmp_path, levels, body + none, word__styles=styles) == [
        "Part I Lakes", "1.1 Shores", "Part II Rivers", "2.1 Banks", "Thanks",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "number"),
    [
        (level(0, "§ %1"), "§ 1 "),
        (level(0, "%1)", "lowerLetter", start=28), "bb) "),
        (level(0, "%1", "lowerRoman", start=4), "iv "),
        (level(0, "%1", "decimalZero"), "01 "),
        (level(0, "•", "bullet"), ""),
        (level(0, "-"), ""),
        (level(0, "%1", "lowerLetter", start=99999), ""),
        (level(0, "%1", "chosung"), ""),
        (level(0, "%1 words that are longer than any number"), ""),
        (level(0, "%1", more="<w:rPr><w:vanish/></w:rPr>"), ""),
        (level(3, "%1"), ""),
    ],
)
def test_formats_of_numbers(tmp_path: Path, levels: str, number: str) -> None:
    body = heading("Lakes", member(0)) + heading("Rivers", "")

    assert titles(tmp_path, levels, body) == [f"{number}Lakes", "Rivers"]


def test_a_list_can_begin_anew(tmp_path: Path) -> None:
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    lists = f'<w:num w:numId="6"><w:abstractNumId w:val="1"/>{override}</w:num><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>'
    body = "".join(heading(f"Lake {text}", member(0, of)) for text, of in zip("abcd", (5, 7, 6, 6), strict=True))

    assert titles(tmp_path, level(0, "%1"), body, lists) == ["1 Lake a", "2 Lake b", "1 Lake c", "2 Lake d"]


def test_paragraphs_that_tracked_changes_delete_are_not_numbered(tmp_path: Path) -> None:
    deleted = (
        f'<w:p><w:pPr><w:pStyle w:val="{TOP}"/>{member(0)}<w:rPr><w:del w:id="1" w:author="Ben"/></w:rPr></w:pPr>'
        '<w:del w:id="2" w:author="Ben"><w:r><w:delText>Ponds</w:delText></w:r></w:del></w:p>'
    )
    body = heading("Lakes", member(0)) + deleted + heading("Rivers", member(0))

    assert titles(tmp_path, level(0, "%1"), body) == ["1 Lakes", "2 Rivers"]


def test_empty_paragraphs_that_end_a_section_of_pages_are_not_numbered(tmp_path: Path) -> None:
    end = f'<w:p><w:pPr><w:pStyle w:val="{TOP}"/>{member(0)}<w:sectPr/></w:pPr></w:p>'
    body = heading("Lakes", member(0)) + end + heading("Rivers", member(0))

    assert titles(tmp_path, level(0, "%1"), body) == ["1 Lakes", "2 Rivers"]
