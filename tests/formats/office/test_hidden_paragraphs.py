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


def _page(size: str = "", margins: str = "") -> str:
    return (
        f'<w:sectPr><w:pgSz w:w="12240" w:h="15840" {size}/><w:pgMar w:left="1440" w:top="1440" {margins}/></w:sectPr>'
    )


def _in_section(inner: str, margins: str) -> str:
    """A section with margins of its own, which ends before the rest of the document."""
    own = f'<w:pgMar w:left="1440" w:top="1440" {margins}/>'
    for name in ("left", "top"):
        own = own.replace(f'w:{name}="1440" ', "", 1) if f"w:{name}=" in margins else own
    return inner + paragraph("", f'<w:sectPr><w:pgSz w:w="12240" w:h="15840"/>{own}</w:sectPr>')


def field(code: str, result: str, begin: str = "") -> str:
    def character(kind: str, more: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}" {more}/></w:r>'

    instruction = f"<w:r><w:instrText>{code}</w:instrText></w:r>"
    return paragraph(character("begin", begin) + instruction + character("separate") + result + character("end"))


_DRAWN = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_SHAPES = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"


def text_box(text: str, style: str, anchor: str = "", shape: str = "", properties: str = "", vml: str = "") -> str:
    """A text box as programs write it: for current programs, and for older ones in VML."""
    words = f"<w:txbxContent>{paragraph(run(text, properties))}</w:txbxContent>"
    choice = (
        f'<w:drawing><wp:anchor xmlns:wp="{_DRAWN}">{anchor or _extent(2000000, 900000)}<a:graphic '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><wps:wsp '
        f'xmlns:wps="{_SHAPES}"><wps:spPr>{shape}</wps:spPr><wps:txbx>{words}</wps:txbx></wps:wsp></a:graphicData></a:graphic>'
        "</wp:anchor></w:drawing>"
    )
    fallback = f'<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" style="{style}" {vml}><v:textbox>{words}</v:textbox></v:shape></w:pict>'
    return paragraph(f"<w:r>{either(choice, fallback)}</w:r>")


def _extent(width: int, height: int, across: int = 0, down: int = 0) -> str:
    return (
        f'<wp:positionH relativeFrom="page"><wp:posOffset>{across}</wp:posOffset></wp:positionH>'
        f'<wp:positionV relativeFrom="page"><wp:posOffset>{down}</wp:posOffset></wp:positionV>'
        f'<wp:extent cx="{width}" cy="{height}"/>'
    )


def _behind(inner: str, shape: str = "", size: str = "") -> str:
    return (
        paragraph(
            f'<w:r><w:drawing><wp:anchor xmlns:wp="{_DRAWN}" behindDoc="1">{size or _extent(5000000, 5000000)}'
            f'<wps:spPr xmlns:wps="{_SHAPES}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">{shape}</wps:spPr>'
            f"</wp:anchor></w:drawing></w:r>"
        )
        + inner
    )


def _listed(text: str, indent: str) -> tuple[str, str, dict[str, str]]:
    numbering = (
        f'<w:numbering xmlns:w="{_W}"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:pPr><w:ind w:left="{indent}"/>'
        '</w:pPr></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
    )
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr>'
    return paragraph(run(text), numbered), "", {"numbering": numbering}


def _bound(text: str, data: str) -> tuple[str, str, dict[str, str]]:
    control = f'<w:sdt><w:sdtPr><w:dataBinding w:xpath="/a"/></w:sdtPr><w:sdtContent>{paragraph(run(text))}</w:sdtContent></w:sdt>'
    return control, "", {"customXml__item1": f"<a>{data}</a>"}


def _two_cells(text: str, first: str, second: str, properties: str = "", row_properties: str = "") -> str:
    return table(row(cell(paragraph(run("x")), first) + cell(paragraph(run(text)), second), row_properties), properties)


def _two_rows(text: str, second: str) -> str:
    return table(
        row(cell(paragraph(run("x")), '<w:vMerge w:val="restart"/>')) + row(cell(paragraph(run(text)), second))
    )


_FIXED = '<w:tblLayout w:type="fixed"/>'
_EXACT = '<w:trHeight w:val="{}" w:hRule="exact"/>'
_WHITE_FILL = '<a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>'
_BLUE_FILL = '<a:solidFill><a:srgbClr val="1F3864"/></a:solidFill>'

HIDING: dict[str, Way] = {
    "margin off the page": lambda text: (_in_section(paragraph(run(text)), 'w:left="12300"'), "", {}),
    "margin above the page": lambda text: (_in_section(paragraph(run(text)), 'w:top="16000"'), "", {}),
    "negative margin": lambda text: (_in_section(paragraph(run(text)), 'w:left="-9000"'), "", {}),
    "indented out of a section": lambda text: (
        _in_section(paragraph(run(text), '<w:ind w:left="11000"/>'), 'w:left="1440"'),
        "",
        {},
    ),
    "left of the page": lambda text: (paragraph(run(text), '<w:ind w:left="-7000"/>'), "", {}),
    "space above it": lambda text: (paragraph(run(text), '<w:spacing w:before="31000"/>'), "", {}),
    "list off the page": lambda text: _listed(text, "31000"),
    "table left of the page": lambda text: (
        table(row(cell(paragraph(run(text)))), '<w:tblInd w:w="-12000" w:type="dxa"/>'),
        "",
        {},
    ),
    "table of a style left of the page": lambda text: (
        table(row(cell(paragraph(run(text)))), '<w:tblStyle w:val="T"/>'),
        style("table", "T", '<w:tblPr><w:tblInd w:w="-12000" w:type="dxa"/></w:tblPr>'),
        {},
    ),
    "table that floats off the page": lambda text: (
        table(row(cell(paragraph(run(text)))), '<w:tblpPr w:horzAnchor="page" w:tblpX="20000"/>'),
        "",
        {},
    ),
    "beside a cell as wide as the page": lambda text: (
        _two_cells(text, '<w:tcW w:w="20000" w:type="dxa"/>', "", _FIXED),
        "",
        {},
    ),
    "cell of no width": lambda text: (_two_cells(text, "", '<w:tcW w:w="10" w:type="dxa"/>', _FIXED), "", {}),
    "cell merged to the left": lambda text: (
        _two_cells(text, '<w:hMerge w:val="restart"/>', '<w:hMerge w:val="continue"/>'),
        "",
        {},
    ),
    "cell merged to the left, in short": lambda text: (
        _two_cells(text, '<w:hMerge w:val="restart"/>', "<w:hMerge/>"),
        "",
        {},
    ),
    "cell merged with the one above": lambda text: (_two_rows(text, "<w:vMerge/>"), "", {}),
    "below the end of an exact row": lambda text: (
        table(row(cell(paragraph(run("x")) * 2 + paragraph(run(text))), _EXACT.format(400))),
        "",
        {},
    ),
    "large margin in an exact row": lambda text: (
        table(
            row(cell(paragraph(run(text)), '<w:tcMar><w:top w:w="900" w:type="dxa"/></w:tcMar>'), _EXACT.format(400))
        ),
        "",
        {},
    ),
    "large margins of all cells": lambda text: (
        table(
            row(cell(paragraph(run(text))), _EXACT.format(400)),
            '<w:tblCellMar><w:top w:w="900" w:type="dxa"/></w:tblCellMar>',
        ),
        "",
        {},
    ),
    "large text on a flat line": lambda text: (
        paragraph(run(text, '<w:sz w:val="40"/>'), '<w:spacing w:line="60" w:lineRule="exact"/>'),
        "",
        {},
    ),
    "frame off the page": lambda text: (
        paragraph(run(text), '<w:framePr w:w="2000" w:hAnchor="page" w:x="20000" w:y="1"/>'),
        "",
        {},
    ),
    "frame of a style above the page": lambda text: (
        paragraph(run(text), '<w:pStyle w:val="A"/>'),
        style(
            "paragraph",
            "A",
            '<w:pPr><w:framePr w:h="300" w:hRule="exact" w:vAnchor="page" w:hAnchor="page" w:y="-9000"/></w:pPr>',
        ),
        {},
    ),
    "flat frame": lambda text: (
        paragraph(run(text), '<w:framePr w:w="2000" w:h="10" w:hRule="exact" w:x="20" w:y="1"/>'),
        "",
        {},
    ),
    "text box off the page": lambda text: (
        text_box(
            text, "position:absolute;margin-left:2000pt;width:90pt;height:40pt", _extent(2000000, 900000, 30000000)
        ),
        "",
        {},
    ),
    "text box above the page, for older programs": lambda text: (
        paragraph(
            '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" style="position:absolute;margin-left:0;'
            'margin-top:-2000pt;width:90pt;height:40pt;mso-position-vertical-relative:page"><v:textbox><w:txbxContent>'
            f"{paragraph(run(text))}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
        ),
        "",
        {},
    ),
    "text box of no size": lambda text: (
        text_box(text, "position:absolute;width:0;height:0", _extent(1, 1)),
        "",
        {},
    ),
    "text box switched off": lambda text: (
        text_box(text, "visibility:hidden;width:90pt;height:40pt", _extent(2000000, 900000) + '<wp:docPr hidden="1"/>'),
        "",
        {},
    ),
    "white in a white text box": lambda text: (
        text_box(text, "width:90pt;height:40pt", shape=_WHITE_FILL, properties=_WHITE),
        "",
        {},
    ),
    "white in a text box without a fill": lambda text: (
        text_box(text, "width:90pt;height:40pt", shape="<a:noFill/>", properties=_WHITE, vml='filled="f"'),
        "",
        {},
    ),
    "white over a white shape": lambda text: (_behind(paragraph(run(text, _WHITE)), _WHITE_FILL), "", {}),
    "white over a transparent shape": lambda text: (_behind(paragraph(run(text, _WHITE)), "<a:noFill/>"), "", {}),
    "white over a dot": lambda text: (
        _behind(paragraph(run(text, _WHITE)), _BLUE_FILL, _extent(20000, 20000)),
        "",
        {},
    ),
    "white beside a shape of older programs": lambda text: (
        paragraph(
            '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" style="width:9pt;height:9pt"/></w:pict></w:r>'
        )
        + paragraph(run(text, _WHITE)),
        "",
        {},
    ),
    "code of a field": lambda text: (
        paragraph(
            f'<w:r><w:fldChar w:fldCharType="begin"/></w:r>{run(text)}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        ),
        "",
        {},
    ),
    "result of a field that shows nothing": lambda text: (field('SET a "x"', run(text)), "", {}),
    "result that is computed anew": lambda text: (field('QUOTE "x"', run(text), 'w:dirty="true"'), "", {}),
    "simple field that shows nothing": lambda text: (
        paragraph(f'<w:fldSimple w:instr=" TC a ">{run(text)}</w:fldSimple>'),
        "",
        {},
    ),
    "content that data replaces": lambda text: _bound(text, "Other words"),
    "a note to which nothing refers": lambda text: (paragraph(run("x")), "", with_note(text, "")[2]),
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
    "wide margins": lambda text: (_in_section(paragraph(run(text)), 'w:left="4000"'), "", {}),
    "beside a section off the page": lambda text: (
        _in_section(paragraph(run("x")), 'w:left="12300"') + paragraph(run(text)),
        "",
        {},
    ),
    "in the margin": lambda text: (paragraph(run(text), '<w:ind w:left="-900"/>'), "", {}),
    "list": lambda text: _listed(text, "720"),
    "table in the margin": lambda text: (
        table(row(cell(paragraph(run(text)))), '<w:tblInd w:w="-108" w:type="dxa"/>'),
        "",
        {},
    ),
    "table that floats": lambda text: (
        table(row(cell(paragraph(run(text)))), '<w:tblpPr w:horzAnchor="page" w:tblpX="2000" w:tblpY="-200"/>'),
        "",
        {},
    ),
    "cell in the first column": lambda text: (_two_cells("x", "", "") + _two_rows(text, ""), "", {}),
    "cell that begins a merge": lambda text: (
        table(row(cell(paragraph(run(text)), '<w:vMerge w:val="restart"/><w:hMerge w:val="restart"/>'))),
        "",
        {},
    ),
    "in an exact row": lambda text: (table(row(cell(paragraph(run(text))), _EXACT.format(300))), "", {}),
    "second paragraph of an exact row": lambda text: (
        table(row(cell(paragraph(run("x")) + paragraph(run(text))), _EXACT.format(900))),
        "",
        {},
    ),
    "cells of exact widths": lambda text: (
        _two_cells(text, '<w:tcW w:w="3000" w:type="dxa"/>', '<w:tcW w:w="3000" w:type="dxa"/>', _FIXED),
        "",
        {},
    ),
    "frame": lambda text: (
        paragraph(run(text), '<w:framePr w:w="2000" w:hAnchor="page" w:x="2000" w:vAnchor="page" w:y="900"/>'),
        "",
        {},
    ),
    "text box": lambda text: (
        text_box(text, "position:absolute;margin-left:20pt;margin-top:-30pt;width:90pt;height:40pt"),
        "",
        {},
    ),
    "white in a blue text box": lambda text: (
        text_box(text, "width:90pt;height:40pt", shape=_BLUE_FILL, properties=_WHITE, vml='fillcolor="#1F3864"'),
        "",
        {},
    ),
    "white over a blue shape": lambda text: (_behind(paragraph(run(text, _WHITE)), _BLUE_FILL), "", {}),
    "result of a field": lambda text: (field("MERGEFIELD a", run(text)), "", {}),
    "after a field": lambda text: (field('SET a "x"', run("x")) + paragraph(run(text)), "", {}),
    "content that is in the data": lambda text: _bound(text, f"1 {text} 2"),
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
    targets = {each: f"{each}.xml" for each in ("styles", "footnotes", "theme", "numbering")}
    kinds = ["styles", *(each for each in targets if each in more)]
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
        **{f"{name}.xml": data for name, data in more.items() if name.startswith("customXml")},
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
    if hidden[2].keys() & shown[2].keys() or hiding == "defaults of the document" or "white over" in showing:
        return
    if 'styleId="A"' in hidden[1] + shown[1] or 'styleId="C"' in hidden[1] + shown[1] or 'styleId="T"' in shown[1]:
        return

    both = hidden[0] + shown[0], hidden[1] + shown[1], {**hidden[2], **shown[2]}
    kit = document(tmp_path_factory.mktemp("home"), both, before)

    assert not kit.verify_quote("report", SECRET).holds
    assert kit.verify_quote("report", "These words are for all readers").holds
