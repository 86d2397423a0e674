"""Citations of parts of files in the forms of other programs."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from citekit.domain.address import Address
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire.citations import bibtex_citation, csl_citation, html_citation, markdown_citation


def made(location: Location, title: str = "A & B", **metadata: Any) -> tuple[ResourceMap, Address]:
    nodes = (Node("n", "Node", "part", location),)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return ResourceMap("the book", location.modality, title, "/x", nodes, moment, metadata), Address(
        "the book", location
    )


@pytest.mark.parametrize(
    ("location", "label", "locator"),
    [
        (Pages((3,)), "page", "3"),
        (Pages((3, 4, 5, 9)), "page", "3-5, 9"),
        (Lines(2, 7), "line", "2-7"),
        (TimeSpan(1.5, 20), "timestamp", "1.5-20"),
        (TimeSpan(1.5, None), "timestamp", "1.5"),
    ],
)
def test_a_place_becomes_a_locator(location: Location, label: str, locator: str) -> None:
    item = csl_citation(*made(location, authors=["Ada L.", ""], language="en"))
    assert (label, locator) == (item["label"], item["locator"])
    assert [{"literal": "Ada L."}] == item["author"]
    assert str(Address("the book", location)) == item["URL"]


def test_a_place_without_a_locator_has_its_address() -> None:
    for location in (Chapter(3), Box(0, 0, 0.5, 0.5)):
        item = csl_citation(*made(location, author="Ada L."))
        assert "locator" not in item
        assert item["URL"].endswith(str(Address("the book", location)).partition("#")[2])
    assert "language" not in csl_citation(*made(Lines(1, 1), language="python"))


def test_bibtex_escapes_what_tex_reads() -> None:
    entry = bibtex_citation(*made(Pages((3, 4)), title=r"50% of {A} & B_c \ ~", authors=["Ada & Co", "B"]))
    assert entry.startswith("@misc{the_book,\n")
    assert r"title = {{50\% of \{A\} \& B\_c \textbackslash{} \textasciitilde{}}}," in entry
    assert r"author = {{Ada \& Co} and {B}}," in entry
    assert "pages = {3--4}," in entry
    assert r"howpublished = {\url{doc://the%20book#pages=3-4}}," in entry
    assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")
    assert entry.endswith("}\n")
    assert Modality.DOCUMENT is made(Pages((1,)))[0].modality


def test_html_is_one_link_whatever_the_title_has() -> None:
    resource_map, address = made(Pages((3,)), title='<script>"x"</script>')
    text = html_citation(resource_map, ["<b>Part</b>"], address, 'http://127.0.0.1/r/x#quote="<')
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)

    Tags().feed(text)
    assert ["a"] == tags


def test_markdown_quotes_every_line() -> None:
    resource_map, address = made(Pages((3,)))
    assert "> one\n> two\n>\n> A & B > Part, doc://the%20book#pages=3\n" == markdown_citation(
        resource_map, ["Part"], address, "one\ntwo"
    )
    assert "[^1]: A & B, doc://the%20book#pages=3\n" == markdown_citation(resource_map, [], address)
