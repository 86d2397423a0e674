"""Results of the SDK in a notebook: self-contained, small, and inert."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from PIL import Image

from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.entrypoints.notebook import NODE_LIMIT, TEXT_LIMIT
from citekit.entrypoints.sdk import CiteKit
from tests.made_files import make_all


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> CiteKit:
    home = tmp_path_factory.mktemp("notebook")
    kit = CiteKit(home)
    made = make_all(home)
    for name in ("r-intro.pdf", "notes.md", "imageTextN.png", "lena.ogg", "run.mp4", "book.epub"):
        kit.ingest(made[name])
    return kit


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.sources: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        self.closed.append(tag)


def html_of(shown: Any) -> _Tags:
    html = shown._repr_mimebundle_()["text/html"]
    assert html == shown._repr_html_()
    tags = _Tags(html)
    assert sorted(tag for tag in tags.opened if tag not in ("img", "br")) == sorted(tags.closed)
    assert {"script", "iframe", "object", "embed", "link"}.isdisjoint(tags.opened)
    assert all(source.startswith("data:") for source in tags.sources)
    return tags


@pytest.mark.parametrize(
    ("address", "tag"),
    [
        ("doc://r-intro#pages=17", "img"),
        ("doc://r-intro#pages=17&bbox=0.1,0.1,0.9,0.5", "img"),
        ("image://imagetextn#bbox=0.1,0.1,0.9,0.5", "img"),
        ("audio://lena#t=1-2", "audio"),
        ("text://notes_md#lines=7-9", "pre"),
    ],
)
def test_evidence_is_shown_as_what_it_is(kit: CiteKit, address: str, tag: str) -> None:
    evidence: Any = kit.resolve(address)
    tags = html_of(evidence)
    assert tag in tags.opened
    assert len(evidence._repr_html_()) < 400_000
    assert address.replace("&", "&amp;") in evidence._repr_html_()
    if tag == "img":
        with Image.open(BytesIO(b64decode(tags.sources[0].partition(",")[2]))) as picture:
            assert picture.width > 100


def test_a_map_is_a_tree_of_bounded_size(kit: CiteKit) -> None:
    found: Any = kit.map("r-intro")
    tags = html_of(found)
    assert found.node_count == tags.opened.count("li")
    nodes = [Node(f"n{number}", f"Part {number}", "part", Lines(1, 1)) for number in range(NODE_LIMIT + 7)]
    large: Any = evolve(kit.map("notes_md"), nodes=nodes)
    html = large._repr_html_()
    assert NODE_LIMIT == html.count("<li>")
    assert "7 more nodes" in html


@pytest.mark.long
def test_hits_and_verdicts_are_lists_of_addresses(kit: CiteKit) -> None:
    hits = html_of(kit.find_text("logical vectors", "r-intro"))
    assert "ol" in hits.opened
    verdict: Any = kit.verify_quote("doc://r-intro#pages=17", "coerced numeric counterparts")
    assert "<b>exact</b>" in verdict._repr_html_()
    altered: Any = kit.verify_quote("doc://r-intro#pages=17", "coerced <alphabetic> counterparts")
    shown = altered._repr_html_()
    assert "<b>altered</b>" in shown
    assert "coerced <del>&lt;alphabetic&gt;</del> counterparts" in shown
    assert "coerced <ins>numeric</ins> counterparts" in shown
    absent: Any = kit.verify_quote("doc://r-intro", "a slow collection of cooking programs")
    assert "absent" in absent._repr_html_()


def test_words_of_a_file_are_never_markup(kit: CiteKit, tmp_path: Path) -> None:
    evil = '<img src=x onerror="alert(1)"><script>alert(1)</script>'
    path = tmp_path / "evil.md"
    path.write_text(f"# {evil}\n\n{evil}\n" + "x" * (2 * TEXT_LIMIT))
    stored = kit.ingest(path)
    stored = evolve(stored, title=evil, nodes=[Node("n", evil, "section", Lines(1, 3), evil)])
    kit.app.maps.put(stored)
    every: tuple[Any, ...] = (
        stored,
        kit.resolve("evil_md", "n"),
        kit.find_text("onerror", "evil_md"),
        kit.verify_quote("evil_md", evil, "n"),
    )
    for shown in every:
        assert not re.search(r"<(?:script|img src=x)", shown._repr_html_())
        html_of(shown)
    long: Any = kit.resolve("text://evil_md#lines=1-4")
    assert len(long._repr_html_()) < 2 * TEXT_LIMIT


def test_a_notebook_that_wants_only_text_gets_it(kit: CiteKit) -> None:
    shown: Any = kit.map("notes_md")
    bundle = shown._repr_mimebundle_
    assert ["text/plain"] == list(bundle(include=["text/plain"]))
    assert ["text/plain"] == list(bundle(exclude=["text/html"]))
