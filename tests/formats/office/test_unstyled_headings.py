"""Headings of Word documents without a heading style, and lines whose level is not that of a heading."""

from __future__ import annotations

from pathlib import Path

from tests.formats.office.office_files import paragraph, write_docx
from tests.formats.office.test_false_headings import LOWER, TOP, titles
from tests.formats.office.test_titles import BOLD, CENTERED, PROSE, core, outline, size

PAGE = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
LEVEL = '<w:outlineLvl w:val="0"/>'
STYLES = """<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">\
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>\
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>\
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>\
<w:style w:type="paragraph" w:styleId="HDR10"><w:name w:val="HDR 1.0"/></w:style>\
<w:style w:type="paragraph" w:styleId="HDR11"><w:name w:val="HDR 1.1"/></w:style></w:styles>"""


def parts(path: Path, body: str) -> list[tuple[str, list[str]]]:
    """The titles of the chapters of a document, each with those of its parts, without openings."""
    made = write_docx(path / "a.docx", body, **{"word__styles.xml": STYLES, "docProps__core.xml": core("")})
    items = outline(made).items
    return [(each.title, [child.title for child in each.children if child.type != "opening"]) for each in items]


def heading(text: str, points: int = 16) -> str:
    return paragraph(text, "", LEVEL, BOLD + size(points)) + PROSE


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


def test_prominent_sentences_with_a_heading_style_are_headings(tmp_path: Path) -> None:
    pledges = [
        f"{at}. Pledge: The city plants trees along all of its streets and around all schools." for at in range(4)
    ]
    long = "4. Pledge: The city plants trees along all of its streets, around all of its schools, and on the shores of lakes."
    body = paragraph("Streets", TOP) + "".join(paragraph(each, LOWER, "", BOLD) + PROSE for each in [*pledges, long])

    assert titles(tmp_path, body) == ["Streets", *pledges, long]


def test_styles_whose_lines_all_have_numbers_are_heading_styles(tmp_path: Path) -> None:
    appendix = (
        paragraph("Appendix A - Strategy", "HDR10")
        + PROSE
        + paragraph("A.1 Development", "HDR11")
        + PROSE
        + paragraph("A.2 Business", "HDR11")
        + PROSE
    )

    assert parts(tmp_path, paragraph("Lakes", TOP) + PROSE + appendix) == [
        ("Lakes", []),
        ("Appendix A - Strategy", ["A.1 Development", "A.2 Business"]),
    ]


def test_styles_with_other_lines_are_not(tmp_path: Path) -> None:
    lines = "".join(paragraph(f"A.{at} Development", "HDR11") + PROSE for at in range(4))

    assert parts(tmp_path, paragraph("Lakes", TOP) + lines + paragraph("They are deep.", "HDR11")) == [("Lakes", [])]


def test_a_line_that_looks_like_the_headings_is_one(tmp_path: Path) -> None:
    twin = paragraph("2.2 Rivers", "", "", BOLD + size(16)) + PROSE

    assert parts(tmp_path, heading("2.1 Lakes") + twin + heading("2.3 Seas") + heading("2.4 Ponds")) == [
        (text, []) for text in ("2.1 Lakes", "2.2 Rivers", "2.3 Seas", "2.4 Ponds")
    ]


def test_lines_with_a_look_that_text_has_too_or_that_are_repeated_are_none(tmp_path: Path) -> None:
    bold = "".join(paragraph(f"The lake {at} is deep", "", "", BOLD + size(16)) + PROSE for at in range(2))
    headings = "".join(heading(text) for text in ("Lakes", "Seas", "Ponds"))
    caution = 2 * (paragraph("Caution", "", "", BOLD + size(16)) + PROSE)
    more = "".join(heading(f"Part {at}") for at in range(3))

    assert titles(tmp_path, headings + bold) == ["Lakes", "Seas", "Ponds"]
    assert titles(tmp_path, headings + more + caution) == ["Lakes", "Seas", "Ponds", "Part 0", "Part 1", "Part 2"]


def test_larger_lines_above_the_highest_headings_are_parts_and_not_the_title(tmp_path: Path) -> None:
    cover = paragraph("Project of the Lakes", "", CENTERED, BOLD + size(28)) + paragraph("Nadia Nemo")
    body = "".join(
        paragraph(part, "", "", BOLD + size(28)) + heading(f"{number}.1 Lakes") + heading(f"{number}.2 Seas")
        for number, part in enumerate(["DESIGN", "RESULTS"], 1)
    )

    assert parts(tmp_path, cover + body)[1:] == [
        ("DESIGN", ["1.1 Lakes", "1.2 Seas"]),
        ("RESULTS", ["2.1 Lakes", "2.2 Seas"]),
    ]
    assert outline(tmp_path / "a.docx").title == "Project of the Lakes"


def test_centered_lines_at_the_beginning_of_pages_are_chapters(tmp_path: Path) -> None:
    body = (
        paragraph("6. Sale", TOP)
        + PROSE
        + PAGE
        + paragraph("EXHIBITS", "", CENTERED, BOLD)
        + paragraph("A list")
        + PAGE
        + paragraph("Exhibit A", "", CENTERED)
        + paragraph("FORM OF LETTER", "", CENTERED, BOLD)
        + PROSE
        + paragraph("Signed", "", CENTERED, BOLD)
        + PAGE
        + paragraph("EXHIBIT", "", CENTERED)
        + paragraph("FORM OF DEED", "", CENTERED, BOLD)
        + PROSE
        + PAGE
        + paragraph("centered text", "", CENTERED)
    )

    assert parts(tmp_path, body) == [
        ("6. Sale", []),
        ("EXHIBITS", []),
        ("Exhibit A", ["FORM OF LETTER"]),
        ("FORM OF DEED", []),
    ]


def test_levels_of_paragraphs_do_not_count_in_tables_and_on_covers(tmp_path: Path) -> None:
    cells = f"<w:tbl>{row(paragraph('Email', '', LEVEL, size(18)), paragraph('Key', '', LEVEL, size(18)))}</w:tbl>"
    cover = paragraph("Space Center", "", LEVEL) + paragraph("Lakes of the North", "", CENTERED, BOLD + size(26)) + PAGE

    assert titles(tmp_path, cover + heading("Lakes") + cells + heading("Seas")) == ["Space Center", "Lakes", "Seas"]
    assert outline(tmp_path / "a.docx").title == "Lakes of the North"


def test_heading_styles_in_tables_count(tmp_path: Path) -> None:
    cells = f"<w:tbl>{row(paragraph('Depth', LOWER), paragraph('4 m'))}</w:tbl>"

    assert titles(tmp_path, paragraph("Lakes", TOP) + PROSE + cells + PROSE) == ["Lakes", "Depth"]


def test_bold_lines_that_end_in_a_colon_are_headings_and_rows_of_columns_are_not(tmp_path: Path) -> None:
    columns = (
        f"<w:p><w:r><w:rPr>{BOLD}</w:rPr><w:t>Week</w:t><w:tab/><w:t>Topic</w:t><w:tab/><w:t>Reading</w:t></w:r></w:p>"
    )
    body = paragraph("Grading:", "", "", BOLD) + PROSE + columns + PROSE + paragraph("1.", "", "", BOLD) + PROSE

    assert titles(tmp_path, body) == ["Grading:"]


def test_bold_rows_of_one_cell_are_headings(tmp_path: Path) -> None:
    rows = (
        row(paragraph("CLOUD TERMS", "", CENTERED, BOLD))
        + row(paragraph("Period", "", "", BOLD), PROSE)
        + row(paragraph("SERVICE LEVELS", "", CENTERED, BOLD))
        + row(paragraph("Uptime"), PROSE)
    )
    frame = f"<w:tbl>{row(paragraph('These are examples only', '', '', BOLD))}</w:tbl>"

    assert titles(tmp_path, PROSE + f"<w:tbl>{rows}</w:tbl>" + frame + PROSE)[-2:] == ["CLOUD TERMS", "SERVICE LEVELS"]


def test_the_second_line_of_the_title_is_no_heading(tmp_path: Path) -> None:
    lines = paragraph("Playbook of Terms", "", CENTERED, BOLD) + paragraph("for Cloud Services", "", CENTERED, BOLD)
    body = lines + 3 * PROSE + paragraph("Period", "", "", BOLD) + PROSE

    assert titles(tmp_path, body) == ["Playbook of Terms", "Period"]


def test_the_printed_title_replaces_an_earlier_version_in_the_metadata(tmp_path: Path) -> None:
    body = paragraph("Core Flight Software Requirements", "", CENTERED, BOLD + size(26)) + PROSE
    path = write_docx(tmp_path / "a.docx", body, **{"docProps__core.xml": core("Swift Flight Software Requirements")})

    assert outline(path).title == "Core Flight Software Requirements"


def test_large_text_in_the_header_of_the_first_page_is_the_title_of_a_document_without_another(tmp_path: Path) -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    place = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rId9"/></w:sectPr>'

    def made(points: int, header: str = "") -> str | None:
        shown = "".join(paragraph(each, "", "", BOLD + size(points)) for each in ("Instructions:", "Appeals - Rule 23"))
        hidden = paragraph("Buy this", "", "", "<w:vanish/>" + size(40))
        path = write_docx(
            tmp_path / "a.docx",
            PROSE + paragraph("Content", TOP) + PROSE + paragraph("Format", TOP) + PROSE + section,
            **{
                "word__header1.xml": header or f"<w:hdr {space}>{hidden}{shown}</w:hdr>",
                "word___rels__document.xml.rels": f'<Relationships xmlns="{package}"><Relationship Id="rId9" '
                f'Type="{place}/header" Target="header1.xml"/><Relationship Id="rId1" Type="{place}/styles" '
                'Target="styles.xml"/></Relationships>',
                "docProps__core.xml": core(""),
            },
        )
        return outline(path).title

    assert made(16) == "Instructions: Appeals - Rule 23"
    assert made(10) is None
    assert made(16, "<w:hdr") is None


CHARACTERS = """<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>\
<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style></w:styles>"""


def test_paragraphs_in_a_bold_character_style_are_headings(tmp_path: Path) -> None:
    strong = '<w:rStyle w:val="Strong"/>'
    body = "".join(
        paragraph(f"Article {number}: {name}", run=strong) + PROSE
        for number, name in (("I", "Name"), ("II", "Purpose"))
    )
    made = write_docx(tmp_path / "a.docx", body, **{"word__styles.xml": STYLES.replace("</w:styles>", CHARACTERS)})

    assert ["Article I: Name", "Article II: Purpose"] == [each.title for each in outline(made).items]


def test_several_titles_with_text_between_them_are_sections(tmp_path: Path) -> None:
    sections = ["Scope", "Design", "Results"]
    body = paragraph("The plan", "berschrift1") + "".join(paragraph(each, "T") + PROSE for each in sections)
    made = write_docx(tmp_path / "a.docx", body, **{"word__styles.xml": STYLES.replace("</w:styles>", CHARACTERS)})

    found = outline(made)

    assert sections == [each.title for each in found.items][-3:]
    assert found.title != "Scope"


def test_the_lines_of_one_title_are_no_sections(tmp_path: Path) -> None:
    body = "".join(paragraph(each, "T") for each in ("The plan", "of the city", "for trees")) + PROSE
    made = write_docx(tmp_path / "a.docx", body, **{"word__styles.xml": STYLES.replace("</w:styles>", CHARACTERS)})

    assert "The plan of the city for trees" == outline(made).title


def test_numbered_copies_of_heading_styles_are_heading_styles(tmp_path: Path) -> None:
    copies = """<w:style w:type="paragraph" w:styleId="Kop11"><w:name w:val="Heading 11"/></w:style>\
<w:style w:type="paragraph" w:styleId="Kop21"><w:name w:val="Heading 21"/></w:style></w:styles>"""
    body = paragraph("Lakes", "Kop11") + PROSE + paragraph("Shores", "Kop21") + PROSE
    made = write_docx(tmp_path / "a.docx", body, **{"word__styles.xml": STYLES.replace("</w:styles>", copies)})

    (lakes,) = outline(made).items

    assert ("Lakes", "Shores") == (lakes.title, lakes.children[-1].title)
