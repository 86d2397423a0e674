"""Maps of Office files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from citekit.adapters.formats.docx import reader
from citekit.adapters.libraries.mammoth import to_html
from citekit.container import Container, bootstrap
from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues
from tests.formats.office import office_files as made


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return bootstrap(home=tmp_path_factory.mktemp("home"))


def mapped(app: Container, path: Path) -> ResourceMap:
    return app.mapper_called("local").map(app.sources.identify(path), "x")


def drawn(nodes: tuple[Node, ...], depth: int = 0) -> list[str]:
    lines = []
    for node in nodes:
        place = str(Address("x", node.location)).partition("#")[2]
        lines += [f"{'  ' * depth}{node.type} {node.title!r} {place}", *drawn(node.children, depth + 1)]
    return lines


def test_the_word_documents_that_were_used_last_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    converted = []

    def counted(parts: Mapping[str, bytes], name: str) -> str:
        converted.append(name)
        return to_html(parts, name)

    monkeypatch.setattr(reader, "RACY", -1.0)
    monkeypatch.setattr(reader, "to_html", counted)
    one, two, three = (
        made.write_docx(tmp_path / f"{name}.docx", made.paragraph(name)) for name in ("one", "two", "three")
    )

    for path in (one, two, one, three, one):
        reader.docx_reader().load(path)

    assert ["one.docx", "two.docx", "three.docx"] == converted


def test_a_deck_is_sections_of_slides_with_what_stands_on_them(app: Container, tmp_path: Path) -> None:
    found = mapped(app, made.write_pptx(tmp_path / "deck.pptx"))

    assert [
        "section 'First' pages=1-2",
        "  slide 'Title 1' pages=1",
        "  slide 'Title 2' pages=2",
        "    figure 'Photo 2' pages=2&bbox=0.5,0.25,0.75,0.75",
        "section 'Second' pages=3-5",
        "  slide 'Title 3' pages=3",
        "    table 'Name, Value' pages=3&bbox=0,0.5,0.5,0.75",
        "    chart 'Sums' pages=3&bbox=0.5,0.5,1,0.75",
        "  slide 'Title 4' pages=4",
        "  slide 'Title 5' pages=5",
        "    figure 'Photo 5' pages=5&bbox=0.5,0.25,0.75,0.75",
    ] == drawn(found.nodes)
    assert "Hidden slide. Body of 4 Notes: say 4" == found.find("second.title_4").summary
    assert [4] == found.metadata["hidden_slides"]
    assert 5 == found.metadata["page_count"]
    assert [] == map_issues(found)


def test_a_workbook_is_sheets_with_their_regions_tables_and_ranges(app: Container, tmp_path: Path) -> None:
    found = mapped(app, made.write_xlsx(tmp_path / "budget.xlsx"))

    assert [
        "sheet 'Q1 Plan' sheet=Q1%20Plan",
        "  region 'Budget 2024' sheet=Q1%20Plan&cells=A1:C8",
        "    range 'costs' sheet=Q1%20Plan&cells=B3:B7",
        "  region 'City, People' sheet=Q1%20Plan&cells=F2:G4",
        "sheet 'Hidden & odd' sheet=Hidden%20%26%20odd",
        "  region 'C5:D6' sheet=Hidden%20%26%20odd&cells=C5:D6",
        "sheet 'Empty' sheet=Empty",
        "sheet 'T' sheet=T",
        "  table 'Sales' sheet=T&cells=A1:B3",
        "    chart 'Values of T' sheet=T&cells=B1:B3",
    ] == drawn(found.nodes)
    assert {"name": "Q1 Plan", "rows": 8, "columns": 7} == found.metadata["sheets"][0]
    assert {"name": "Hidden & odd", "rows": 6, "columns": 4, "state": "hidden"} == found.metadata["sheets"][1]
    assert "Columns: Item, Cost, Date. 6 rows below the header." == found.find("q1_plan.budget_2024").summary
    assert [] == map_issues(found)


def test_a_document_is_its_headings_by_level_with_captioned_tables_and_figures(app: Container, tmp_path: Path) -> None:
    outline = '<w:outlineLvl w:val="1"/>'
    body = "".join(
        (
            made.paragraph("Inhalt", "Inhalt"),
            made.paragraph("Before all."),
            made.paragraph("Eins", "berschrift1"),
            made.paragraph("First text."),
            made.paragraph("Firma", "Firma"),
            made.paragraph("Table 1: Prices", "Beschriftung"),
            made.table(("Item", "Cost"), ("a", "3")),
            made.paragraph("Direct", properties=outline),
            made.paragraph("Under direct.", "Kreis"),
            made.paragraph("Zwei", "berschrift1"),
            made.PICTURE,
            made.paragraph("Figure 1: Red", "Beschriftung"),
            made.paragraph("Last words."),
        )
    )

    found = mapped(app, made.write_docx(tmp_path / "report.docx", body))

    lines = [line for line in drawn(found.nodes) if not line.lstrip().startswith("opening")]
    assert [
        "toc 'Inhalt' chapter=1",
        "chapter 'Eins' chapter=2",
        "  section 'Firma' chapter=2&chars=17-53",
        "    table 'Table 1: Prices' chapter=2&chars=23-52",
        "  section 'Direct' chapter=2&chars=53-73",
        "chapter 'Zwei' chapter=3",
        "  figure 'Figure 1: Red' chapter=3&chars=5-18",
    ] == lines
    assert ("The Report", ["Ada", "Bob"]) == (found.title, found.metadata["authors"])
    assert [] == map_issues(found)


def test_without_styles_short_bold_lines_are_headings_the_larger_ones_above(app: Container, tmp_path: Path) -> None:
    body = "".join(
        (
            made.paragraph("Big One", run='<w:b/><w:sz w:val="32"/>'),
            made.paragraph("Some text that is not bold."),
            made.paragraph("Smaller", run='<w:b/><w:sz w:val="26"/>'),
            made.paragraph("More text."),
            made.paragraph("A bold sentence that ends as one.", run="<w:b/>"),
            made.paragraph("Big Two", run='<w:b/><w:sz w:val="32"/>'),
            made.paragraph("The end."),
        )
    )

    found = mapped(app, made.write_docx(tmp_path / "plain.docx", body))

    assert ["Big One", "Smaller", "Big Two"] == [node.title for node in found.walk() if node.type != "opening"]


def test_a_style_that_is_not_bold_is_based_on_a_bold_one(app: Container, tmp_path: Path) -> None:
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:type="paragraph" w:styleId="Bold"><w:name w:val="Bold"/><w:rPr><w:b/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Plain"><w:name w:val="Plain"/><w:basedOn w:val="Bold"/>'
        '<w:rPr><w:b w:val="0"/></w:rPr></w:style></w:styles>'
    )
    text = made.paragraph("Some text that ends as a sentence does.") * 3
    body = made.paragraph("Bold line", "Bold") + text + made.paragraph("Plain line", "Plain") + text

    found = mapped(app, made.write_docx(tmp_path / "plain.docx", body, **{"word__styles.xml": styles}))

    assert ["Bold line"] == [node.title for node in found.walk()]


def test_the_same_bytes_give_the_same_map(app: Container, tmp_path: Path) -> None:
    path = made.write_pptx(tmp_path / "deck.pptx")

    assert mapped(app, path).nodes == mapped(app, path).nodes


def test_a_document_without_headings_is_called_by_its_first_words(app: Container, tmp_path: Path) -> None:
    found = mapped(app, made.write_docx(tmp_path / "plain.docx", made.paragraph("First words. " + "And more. " * 30)))

    assert ["First words. And more. And more. And more. And more. And more. And more. And..."] == [
        node.title for node in found.nodes
    ]


def test_notes_of_a_document_end_with_their_own_words(app: Container, tmp_path: Path) -> None:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    types = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = f'<Relationship Id="rId1" Type="{types}/footnotes" Target="footnotes.xml"/>'
    parts = {
        "word__footnotes.xml": f'<w:footnotes xmlns:w="{space}"><w:footnote w:id="2">{made.paragraph("A note.")}</w:footnote></w:footnotes>',
        "word___rels__document.xml.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relation}</Relationships>',
    }
    body = '<w:p><w:r><w:t>Text</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'

    path = made.write_docx(tmp_path / "a.docx", body, **parts)

    assert ["Text[1]\nA note."] == [text.strip() for text in app.reader.texts(path, 1)]
