"""A cell of a table in a text file can be quoted exactly, whatever is beside it; a fragment of a number cannot."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit import CiteKit

_NUMBERS = st.one_of(
    st.integers(0, 10**7).map(str),
    st.integers(-9999, -1).map(str),
    st.decimals(0, 9999, places=4).map(str),
    st.integers(1000, 10**7).map("{:,}".format),
)
_WORDS = st.sampled_from(
    ["Japan", "South Korea", 'the "old" one', "n/a", "2024-05-01", "12:30", "a, b", "5 mg", "-3 %"]
)
_ROWS = st.lists(st.lists(_NUMBERS | _WORDS, min_size=3, max_size=3), min_size=3, max_size=6)


def verdicts(table: str, suffix: str, quotes: list[str]) -> list[str]:
    """The finding for each quote of the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_text(table, "utf-8")
        kit = CiteKit(home=Path(folder) / "home")
        kit.ingest(path, resource_id="a")
        return [kit.verify_quote("text://a", quote).finding.value for quote in quotes]


def written(rows: list[list[str]], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([["one", "two", "three"], *rows])
    return out.getvalue()


@settings(max_examples=10, deadline=None)
@given(_ROWS, st.sampled_from([(",", ".csv"), (";", ".csv"), ("\t", ".tsv")]))
def test_each_cell_of_a_table_is_quotable(rows: list[list[str]], kind: tuple[str, str]) -> None:
    cells = [cell for row in rows for cell in row]
    found = verdicts(written(rows, kind[0]), kind[1], cells)

    assert [cell for cell, finding in zip(cells, found, strict=True) if finding != "exact"] == []


@settings(max_examples=10, deadline=None)
@given(st.lists(st.decimals(10, 9999, places=4).map(str), min_size=9, max_size=9, unique=True))
def test_no_fragment_of_a_number_in_a_table_is_quotable(numbers: list[str]) -> None:
    rows = [numbers[:3], numbers[3:6], numbers[6:]]
    fragments = [
        part for each in numbers for part in (each[1:], each[:-1], each.partition(".")[2]) if part not in numbers
    ]
    found = verdicts(written(rows, ","), ".csv", fragments)

    assert [part for part, finding in zip(fragments, found, strict=True) if finding == "exact"] == []


@pytest.mark.parametrize(
    ("quote", "finding"),
    [
        ("4.9684", "exact"),
        ("2000", "exact"),
        ("Japan,2000,4.9684", "exact"),
        ("9684", "absent"),
        ("000,4.9684", "absent"),
        ("345", "absent"),
        ('the "old" one', "exact"),
        ("two lines", "normalised"),
    ],
)
def test_a_number_after_a_comma_is_a_cell_of_its_own(quote: str, finding: str) -> None:
    table = 'country,year,value\nJapan,2000,4.9684\nChina,"12,345","the ""old"" one"\nPeru,2001,"two\nlines"\n'
    assert verdicts(table, ".csv", [quote]) == [finding]
