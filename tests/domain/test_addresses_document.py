"""Every example of docs/reference/addresses.md is run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from citekit.domain import exchange
from citekit.domain.address import parse_address
from citekit.domain.errors import AddressMalformed
from citekit.domain.exchange import from_web_annotation, to_web_annotation
from citekit.domain.locations import Box, Pages
from citekit.domain.modality import Modality

DOCUMENT = (Path(__file__).parents[2] / "docs" / "reference" / "addresses.md").read_text("utf-8")
PAGE_SIZE = (600, 800)


def rows(heading: str) -> list[list[list[str]]]:
    """For every row of the table whose first column is called `heading`: for every cell, the pieces of code in it."""
    table = DOCUMENT.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[re.findall(r"`([^`]+)`", cell) for cell in row.strip("|").split("|")] for row in table]


@pytest.mark.parametrize("row", rows("address"))
def test_the_addresses_shown_are_canonical(row: list[list[str]]) -> None:
    [[text], *_] = row

    assert text == str(parse_address(text))


@pytest.mark.parametrize("row", rows("also read"))
def test_the_lenient_spellings_shown_are_read(row: list[list[str]]) -> None:
    [[text], [canonical]] = row

    assert canonical == str(parse_address(text))
    assert text != canonical


@pytest.mark.parametrize("row", rows("refused"))
def test_the_refusals_shown_happen(row: list[list[str]]) -> None:
    [[text], [part]] = row

    with pytest.raises(AddressMalformed) as caught:
        parse_address(text)

    assert part == caught.value.part


@pytest.mark.parametrize("row", rows("standard"))
def test_the_exchanges_shown_go_both_ways(row: list[list[str]]) -> None:
    [_, [export, read], [text], [written]] = row
    location = parse_address(text).location
    with_size: Any = {"page_size": PAGE_SIZE} if isinstance(location, Pages) and location.region else {}
    extra: Any = {"modality": location.modality} if read == "from_media_fragment" else with_size

    assert written == getattr(exchange, export)(location, **with_size)
    assert location == getattr(exchange, read)(written, **extra)


def test_the_tables_hold_every_kind_of_place_and_every_standard() -> None:
    kinds = {type(parse_address(row[0][0]).location).__name__ for row in rows("address")}
    functions = {name for row in rows("standard") for name in row[1]}

    assert {"Pages", "Chapter", "Cells", "TimeSpan", "Box", "Lines", "Virtual"} == kinds
    assert {name for name in exchange.__all__ if name[:3] in ("to_", "fro")} == functions | {
        "to_web_annotation",
        "from_web_annotation",
    }
    assert Box(0.2, 0.3, 0.8, 0.7) == parse_address("image://diagram#bbox=0.2,0.3,0.8,0.7").location


def test_the_annotation_shown_is_what_is_written() -> None:
    [shown] = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    location = parse_address("text://notes#lines=2").location

    assert json.loads(shown) == to_web_annotation(location, "https://example.org/notes.txt")
    assert location == from_web_annotation(json.loads(shown), Modality.TEXT)
