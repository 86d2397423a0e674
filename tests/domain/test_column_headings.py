"""The column headings of a table row on a page of text, as files of several kinds print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.text_search.column_headings import column_headings

STATEMENT = "(in millions)\t2022\t2021\n\nAssets\nCash\t$\t10,203\t$\t11,258\nLease\ncosts (1)\t(2)\t—\nTotal\t7%\tN/A"
STACKED = "August 28,\n\n2022\nAugust 29,\n\n2021\nASSETS\nCash and cash equivalents\t$\t10,203\t$\t11,258"
FINDINGS = (
    "ID\tTitle\tType\n1\tLabels cannot be\nhashed\n\tDenial of Service\n2\tLabels are not checked\tData Validation"
)
COUNTS = "Severity\tCount\nHigh\t4\nLow\t11"
PIPES = "| Level | Price |\n|---|---:|\n| one | 2 |\n| two | 3 |"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (STATEMENT, "(in millions) | 2022 | 2021"),
        (STACKED, "August 28, 2022 | August 29, 2021"),
        (FINDINGS, "ID | Title | Type"),
        (COUNTS, "Severity | Count"),
        (PIPES, "Level | Price"),
        ("Utilities\tEnergy\tTotal\nRevenue\t1\t2\t3", "Utilities | Energy | Total"),
        ("Quarter ended\tMar 31\tJun 30\nRevenue\t2,650\t2,483", "Quarter ended | Mar 31 | Jun 30"),
    ],
)
def test_the_last_row_has_these_headings(text: str, headings: str) -> None:
    lines = list(filter(None, text.split("\n")))
    assert headings == column_headings(lines, len(lines) - 1)


@pytest.mark.parametrize(
    "text",
    [
        "2022\t2021",
        "Members\t2022\t2010\nVisitors\t1999\t2001",  # figures that look like years
        "One\tTwo\tThree\tFour\nCash\t1\t2",  # another number of columns
        "Exhibit\tDescription\tFiled\nHerewith\tForm\tDate\n10.6\tAgreement\t14A",  # headings in several rows
        "Delhi\tIndia\tEnergy\n10\t60 %\t2019",  # a row in two halves
        "Client\tSome Corporation\nDate\tJune",  # names and values
        "Total\t31 years\t32 years\nRate\t4.11 %\t4.99 %",
        "2022\t2021\nThe following sentence is not a part of the table of figures above.\nCash\t1\t2",
        "Figure\tOther\tThird\n"
        + "A long line of prose between two tables that says something about both. " * 2
        + "\nb\tc\td",
        "│\tStack\t│\n│\t│\t│",
        "2020\t2020\nCash\t1\t2",
        "| a | b |\n| c | d |",
        "one cell",
    ],
)
def test_doubtful_rows_have_no_headings(text: str) -> None:
    lines = text.split("\n")
    assert column_headings(lines, len(lines) - 1) is None


@given(st.lists(st.text("aB 12$(),.%—|-\t\u2502é2021", max_size=20), min_size=1, max_size=12), st.data())
def test_headings_come_from_the_lines_above(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    found = column_headings(lines, number)
    above = "".join("".join(lines[:number]).split())
    assert found is None or all("".join(cell.split()) in above for cell in found.split(" | "))
