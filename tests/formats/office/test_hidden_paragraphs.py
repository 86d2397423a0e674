"""Words that Word does not show hold in no quote, however styles, tables, notes, and alternatives hide them; others hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit import CiteKit
from tests.formats.office import office_files as made

SECRET, PLAIN = "The penalty is waived entirely", "The penalty is five percent of the amount"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_WHITE, _VANISH = '<w:color w:val="FFFFFF"/>', "<w:vanish/>"
_DARK = '<w:shd w:val="clear" w:color="auto" w:fill="1F3864"/>'
_THEME = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:themeElements><a:clrScheme name="x">'
    '<a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1><a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1>'
    '<a:accent1><a:srgbClr val="4472C4"/></a:accent1></a:clrScheme></a:themeElements></a:theme>'
)


Way = Callable[[str], tuple[str, str, dict[str, str]]]
"""Makes the body, the styles, and further parts of a document that contains a text in some way."""


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def style(kind: str, name: str, inner: str, based: str = "", default: bool = False) -> str:
    above = f'<w:basedOn w:val="{based}"/>' if based else ""
    chosen = ' w:default="1"' if default else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}"{chosen}><w:name w:val="{name}"/>{above}{inner}</w:style>'


def cell(inner: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def table(inner: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{inner}</w:tbl>"


def row(inner: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inner}</w:tr>"


def with_note(text: str, properties: str) -> tuple[str, str, dict[str, str]]:
    note = f'<w:footnotes xmlns:w="{_W}"><w:footnote w:id="2">{paragraph(run(text, properties))}</w:footnote></w:footnotes>'
    return paragraph('<w:r><w:footnoteReference w:id="2"/></w:r>'), "", {"footnotes": note}


def either(choice: str, fallback: str) -> str:
    return (
        f'<mc:AlternateContent xmlns:mc="{_MC}"><mc:Choice Requires="wps">{choice}</mc:Choice>'
        f"<mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent>"
    )


_HEADER = style(
    "table", "T", f'<w:tblStylePr w:type="firstRow"><w:rPr>{_WHITE}</w:rPr><w:tcPr>{_DARK}</w:tcPr></w:tblStylePr>'
)
_LOOK = '<w:tblStyle w:val="T"/><w:tblLook w:val="04A0" w:firstRow="{}"/>'


def _in_table(text: str, first: str) -> str:
    cells = row(cell(paragraph(run(text)))), row(cell(paragraph(run("x"))))
    return table("".join(cells), _LOOK.format(first))


HIDING: dict[str, Way] = {
    "own vanish": lambda text: (paragraph(run(text, _VANISH)), "", {}),
    "special vanish": lambda text: (paragraph(run(text, "<w:specVanish/>")), "", {}),
    "character style": lambda text: (
        paragraph(run(text, '<w:rStyle w:val="C"/>')),
        style("character", "C", f"<w:rPr>{_VANISH}</w:rPr>"),
        {},
    ),
    "paragraph style two levels up": lambda text: (
        paragraph(run(text), '<w:pStyle w:val="B"/>'),
        style("paragraph", "A", f"<w:rPr>{_VANISH}</w:rPr>") + style("paragraph", "B", "", "A"),
        {},
    ),
    "defaults of the document": lambda text: (
        paragraph(run(text)) + paragraph(run("x", '<w:sz w:val="20"/>')),
        '<w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="2"/></w:rPr></w:rPrDefault></w:docDefaults>',
        {"plain": '<w:sz w:val="20"/>'},
    ),
    "tiny by a style": lambda text: (
        paragraph(run(text), '<w:pStyle w:val="A"/>'),
        style("paragraph", "A", '<w:rPr><w:sz w:val="2"/></w:rPr>'),
        {},
    ),
    "white": lambda text: (paragraph(run(text, _WHITE)), "", {}),
    "white by a style": lambda text: (
        paragraph(run(text), '<w:pStyle w:val="A"/>'),
        style("paragraph", "A", f"<w:rPr>{_WHITE}</w:rPr>"),
        {},
    ),
    "white by the theme": lambda text: (
        paragraph(run(text, '<w:color w:val="000000" w:themeColor="background1"/>')),
        "",
        {"theme": _THEME},
    ),
    "almost white": lambda text: (paragraph(run(text, '<w:color w:val="FAFAFA"/>')), "", {}),
    "dark on dark": lambda text: (paragraph(run(text, '<w:color w:val="1F3864"/>'), _DARK), "", {}),
    "white in a cell": lambda text: (table(row(cell(paragraph(run(text, _WHITE))))), "", {}),
    "white in a light cell of a dark table": lambda text: (
        table(row(cell(paragraph(run(text, _WHITE)), '<w:shd w:val="clear" w:fill="FFFFFF"/>')), _DARK),
        "",
        {},
    ),
    "white beside a dark cell": lambda text: (
        table(row(cell(paragraph(run("x")), _DARK) + cell(paragraph(run(text, _WHITE))))),
        "",
        {},
    ),
    "hidden row": lambda text: (table(row(cell(paragraph(run(text))), "<w:hidden/>")), "", {}),
    "hidden row in a content control": lambda text: (
        table(f"<w:sdt><w:sdtContent>{row(cell(paragraph(run(text))), '<w:hidden/>')}</w:sdtContent></w:sdt>"),
        "",
        {},
    ),
    "flat row": lambda text: (
        table(row(cell(paragraph(run(text))), '<w:trHeight w:val="2" w:hRule="exact"/>')),
        "",
        {},
    ),
    "flat lines": lambda text: (paragraph(run(text), '<w:spacing w:line="10" w:lineRule="exact"/>'), "", {}),
    "narrow letters": lambda text: (paragraph(run(text, '<w:w w:val="1"/>')), "", {}),
    "far to the right": lambda text: (paragraph(run(text), '<w:ind w:left="31000"/>'), "", {}),
    "first line far to the left": lambda text: (paragraph(run(text), '<w:ind w:left="0" w:hanging="30000"/>'), "", {}),
    "far to the left by characters": lambda text: (paragraph(run(text), '<w:ind w:leftChars="-9000"/>'), "", {}),
    "far below its line": lambda text: (paragraph(run(text, '<w:position w:val="-3000"/>')), "", {}),
    "gradient in white": lambda text: (
        paragraph(
            run(
                text,
                '<w14:textFill xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:gradFill><w14:gsLst>'
                '<w14:gs w14:pos="0"><w14:srgbClr w14:val="FFFFFF"/></w14:gs>'
                '<w14:gs w14:pos="100000"><w14:srgbClr w14:val="FFFFFF"/></w14:gs></w14:gsLst></w14:gradFill></w14:textFill>',
            )
        ),
        "",
        {},
    ),
    "footnote": lambda text: with_note(text, _VANISH),
    "white footnote": lambda text: with_note(text, _WHITE),
    "a note whose reference is hidden": lambda text: (
        paragraph(f'<w:r><w:rPr>{_VANISH}</w:rPr><w:footnoteReference w:id="2"/></w:r>'),
        "",
        with_note(text, "")[2],
    ),
    "only for older programs": lambda text: (paragraph(either(run("Other words"), run(text))), "", {}),
    "hidden where new programs look": lambda text: (paragraph(either(run(text, _VANISH), run(text))), "", {}),
    "white in a table without its header": lambda text: (
        _in_table(text, "0").replace("<w:rPr></w:rPr>", f"<w:rPr>{_WHITE}</w:rPr>", 1),
        _HEADER,
        {},
    ),
}
SHOWING: dict[str, Way] = {
    "plain": lambda text: (paragraph(run(text)), "", {}),
    "vanish switched off": lambda text: (paragraph(run(text, '<w:vanish w:val="0"/>')), "", {}),
    "toggled twice": lambda text: (
        paragraph(run(text, '<w:rStyle w:val="C"/>'), '<w:pStyle w:val="A"/>'),
        style("paragraph", "A", f"<w:rPr>{_VANISH}</w:rPr>") + style("character", "C", f"<w:rPr>{_VANISH}</w:rPr>"),
        {},
    ),
    "small print": lambda text: (paragraph(run(text, '<w:sz w:val="10"/>')), "", {}),
    "gray": lambda text: (paragraph(run(text, '<w:color w:val="A6A6A6"/>')), "", {}),
    "white on a dark paragraph": lambda text: (paragraph(run(text, _WHITE), _DARK), "", {}),
    "white on a dark run": lambda text: (paragraph(run(text, _WHITE + _DARK)), "", {}),
    "white and highlighted": lambda text: (paragraph(run(text, _WHITE + '<w:highlight w:val="blue"/>')), "", {}),
    "white in a dark cell": lambda text: (table(row(cell(paragraph(run(text, _WHITE)), _DARK))), "", {}),
    "white in a dark table": lambda text: (table(row(cell(paragraph(run(text, _WHITE)))), _DARK), "", {}),
    "white in a table in a dark cell": lambda text: (
        table(row(cell(table(row(cell(paragraph(run(text, _WHITE))))) + paragraph(""), _DARK))),
        "",
        {},
    ),
    "white header of a table style": lambda text: (_in_table(text, "1"), _HEADER, {}),
    "own white in that header": lambda text: (
        _in_table(text, "1").replace("<w:rPr></w:rPr>", f"<w:rPr>{_WHITE}</w:rPr>", 1),
        _HEADER,
        {},
    ),
    "white over a picture": lambda text: (
        paragraph('<w:r><w:drawing><wp:anchor xmlns:wp="urn:x" behindDoc="1"/></w:drawing></w:r>')
        + paragraph(run(text, _WHITE)),
        "",
        {},
    ),
    "footnote": lambda text: with_note(text, ""),
    "both alternatives": lambda text: (paragraph(either(run(text), run(text))), "", {}),
    "text color of the theme": lambda text: (
        paragraph(run(text, '<w:color w:val="FFFFFF" w:themeColor="text1"/>')),
        "",
        {"theme": _THEME},
    ),
    "indented": lambda text: (paragraph(run(text), '<w:ind w:left="2880"/>'), "", {}),
    "hanging": lambda text: (paragraph(run(text), '<w:ind w:left="720" w:hanging="360"/>'), "", {}),
    "raised": lambda text: (paragraph(run(text, '<w:position w:val="12"/>')), "", {}),
}


def document(folder: Path, way: tuple[str, str, dict[str, str]], before: int = 0) -> CiteKit:
    body, styles, more = way
    plain = "".join(paragraph(run(f"Paragraph {number}", more.get("plain", ""))) for number in range(before))
    body = plain + body + paragraph(run(PLAIN, more.get("plain", "")))
    targets = {"styles": "styles.xml", "footnotes": "footnotes.xml", "theme": "theme.xml"}
    kinds = ["styles", *(each for each in ("footnotes", "theme") if each in more)]
    relations = "".join(
        f'<Relationship Id="r{n}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"'
        f' Target="{targets[kind]}"/>'
        for n, kind in enumerate(kinds)
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts = {
        "word___rels__document.xml.rels": f'<Relationships xmlns="{namespace}">{relations}</Relationships>',
        "word__styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
        **{f"word__{targets[kind]}": more[kind] for kind in kinds[1:]},
    }
    made.write_docx(folder / "report.docx", body, **parts)
    kit = CiteKit(folder)
    kit.ingest(folder / "report.docx", resource_id="report", force=True)
    return kit


@pytest.mark.parametrize("way", HIDING)
def test_no_quote_of_words_holds_that_a_document_does_not_show(way: str, tmp_path: Path) -> None:
    kit = document(tmp_path, HIDING[way](SECRET))

    assert not kit.verify_quote("report", SECRET).holds
    assert kit.verify_quote("report", PLAIN).holds


@pytest.mark.parametrize("way", SHOWING)
def test_a_quote_of_words_holds_that_a_document_shows(way: str, tmp_path: Path) -> None:
    assert document(tmp_path, SHOWING[way](SECRET)).verify_quote("report", SECRET).holds


@pytest.mark.long
@settings(max_examples=25)
@given(st.sampled_from(sorted(HIDING)), st.sampled_from(sorted(SHOWING)), st.integers(0, 3))
def test_hidden_and_shown_words_of_one_document_are_told_apart(
    tmp_path_factory: pytest.TempPathFactory, hiding: str, showing: str, before: int
) -> None:
    hidden, shown = HIDING[hiding](SECRET), SHOWING[showing]("These words are for all readers")
    if hidden[2].keys() & shown[2].keys() or hiding == "defaults of the document" or "picture" in showing:
        return
    if 'styleId="A"' in hidden[1] + shown[1] or 'styleId="C"' in hidden[1] + shown[1] or 'styleId="T"' in shown[1]:
        return

    both = hidden[0] + shown[0], hidden[1] + shown[1], {**hidden[2], **shown[2]}
    kit = document(tmp_path_factory.mktemp("home"), both, before)

    assert not kit.verify_quote("report", SECRET).holds
    assert kit.verify_quote("report", "These words are for all readers").holds
