"""What slides and sheets of other programs hold: charts of every kind, raised numbers, titles above tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.formats.pptx.charts import chart_text
from citekit.adapters.formats.pptx.extractor import SlideExtractor
from citekit.adapters.formats.xlsx.outliner import XlsxOutliner
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.evidence import Form, Options
from citekit.domain.locations import Pages
from citekit.domain.progress import silent

_CHART = """<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea>{}</c:plotArea>
</c:chart></c:chartSpace>"""
_TEXT = '<c:{0}><c:strRef><c:strCache><c:pt idx="0"><c:v>{1}</c:v></c:pt></c:strCache></c:strRef></c:{0}>'
_NUMBERS = """<c:{0}><c:numRef><c:numCache><c:formatCode>{1}</c:formatCode><c:pt idx="0"><c:v>{2}</c:v></c:pt><c:pt idx="2">
<c:v>{3}</c:v></c:pt></c:numCache></c:numRef></c:{0}>"""


def text_of_chart(kind: str, *series: str) -> str:
    from lxml import etree

    plots = f"<c:{kind}>{''.join(f'<c:ser>{each}</c:ser>' for each in series)}</c:{kind}>"
    return chart_text(etree.fromstring(_CHART.format(plots)))


def test_a_chart_of_any_kind_gives_its_data_dates_as_dates() -> None:
    one, two = (
        _TEXT.format("tx", name)
        + _NUMBERS.format("cat", "m/d/yyyy", 37261, 37263)
        + _NUMBERS.format("val", "0", value, 4)
        for name, value in (("Rain", 1.5), ("Sun", 2))
    )

    assert "Rain, Sun\n\tRain\tSun\n2002-01-05\t1.5\t2\n2002-01-07\t4\t4" == text_of_chart("area3DChart", one, two)


def test_points_of_a_scatter_chart_are_x_and_y_a_table_for_each_series_with_its_own_x() -> None:
    one, two = (
        _TEXT.format("tx", name) + _NUMBERS.format("xVal", "General", x, 9) + _NUMBERS.format("yVal", "General", 1, 2)
        for name, x in (("A", 0.7), ("B", 0.8))
    )

    assert "A, B\n\tA\n0.7\t1\n9\t2\n\tB\n0.8\t1\n9\t2" == text_of_chart("scatterChart", one, two)


def slide_with(path: Path, change: Any) -> str:
    """The text of a slide with a title and a body, changed before it is saved."""
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Powers"
    change(slide)
    deck.save(str(path))
    target = path.with_suffix(".out")
    SlideExtractor().extract(FileSources().identify(path), Pages((1,)), Options(Form.TEXT), target)
    return target.read_text(encoding="utf-8")


def test_raised_and_lowered_numbers_of_a_slide_are_superscripts_and_subscripts(tmp_path: Path) -> None:
    def write(slide: Any) -> None:
        paragraph = slide.placeholders[1].text_frame.paragraphs[0]
        for text, baseline in (("10", None), ("6", "30000"), (" J of H", None), ("2", "-25000"), ("O", "0")):
            run = paragraph.add_run()
            run.text = text
            if baseline:
                run.font._element.set("baseline", baseline)

    assert "Powers\n10⁶ J of H₂O\n" == slide_with(tmp_path / "a.pptx", write)


def test_of_a_choice_between_shapes_the_first_that_is_one_is_read(tmp_path: Path) -> None:
    def wrap(slide: Any) -> None:
        from lxml import etree

        slide.placeholders[1].text_frame.text = "New"
        body = slide.placeholders[1]._element
        space = "http://schemas.openxmlformats.org/markup-compatibility/2006"
        known = {"a14": "http://schemas.microsoft.com/office/drawing/2010/main"}
        either = etree.Element(f"{{{space}}}AlternateContent")
        choice = etree.SubElement(either, f"{{{space}}}Choice", nsmap=known, Requires="a14")
        body.addprevious(choice.getparent())
        choice.append(body)

    assert "Powers\nNew\n" == slide_with(tmp_path / "a.pptx", wrap)


@pytest.mark.parametrize(
    ("rows", "title", "summary"),
    [
        (
            [["Budget"], [], ["Item", "Cost"], ["a", 1], ["b", 2]],
            "Budget",
            "Columns: Item, Cost. 2 rows below the header.",
        ),
        (
            [["City", 2019, 2020], ["Graz", 3, 4], ["Wien", 5, 6]],
            "City, 2019, 2020",
            "Columns: City, 2019, 2020. 2 rows below the header.",
        ),
        (
            [["Report"], ["as of", "May"], ["City", "People", "Since"], ["Graz", 3, 1900], ["Wien", 5, 1901]],
            "Report",
            "Columns: City, People, Since. 2 rows below the header.",
        ),
        ([["Ann", 1985, 7], ["Bob", 1990, 5]], "Ann", None),
    ],
)
def test_a_region_is_titled_by_what_stands_above_its_header(
    tmp_path: Path, rows: list[list[object]], title: str, summary: str | None
) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            book.active.cell(number, column, value)
    book.save(tmp_path / "a.xlsx")

    found = XlsxOutliner().outline(FileSources().identify(tmp_path / "a.xlsx"), silent)

    assert [(title, summary)] == [
        (outline_item.title, outline_item.summary) for outline_item in found.items[0].children
    ]
