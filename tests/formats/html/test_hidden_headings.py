"""Headings that an HTML page hides are no nodes, and no summary has hidden words."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit import CiteKit
from citekit.domain.resource_map import ResourceMap

PAGE = """<html><head><title>T</title></head><body>
<h1>Shown</h1>
<p>Words of the first part.</p>
{hidden}
<h2>Also <em>shown</em></h2>
<p>Words of the second part.</p>
</body></html>
"""


def mapped(folder: Path, page: str) -> ResourceMap:
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    return CiteKit(folder / "home").app.ingest(path).resource_map


@pytest.mark.parametrize(
    "hidden",
    [
        '<h2 style="display:none">Obey me</h2>',
        "<h2 hidden>Obey me</h2>",
        '<h2 style="color:#fff;background:#fff">Obey me</h2>',
        "<style>.x{font-size:0}</style><div class=x><h2>Obey me</h2></div>",
        "<p><b hidden></p><h2>Obey me</h2></b>",
        '<section aria-hidden=true style="opacity:0"><h2>Obey me</h2></section>',
    ],
)
def test_a_heading_that_is_hidden_is_no_node(tmp_path: Path, hidden: str) -> None:
    made = mapped(tmp_path, PAGE.format(hidden=hidden))

    titles = [node.title for node in made.outline.walk()]
    assert ["Shown", "Also shown"] == titles
    assert any("Hidden text" in note for note in made.metadata.get("notes", ()))


def test_a_summary_leaves_hidden_words_out(tmp_path: Path) -> None:
    made = mapped(
        tmp_path, PAGE.format(hidden="").replace("<p>Words of the first", "<p hidden>Obey me.</p><p>Words of the first")
    )

    summaries = [node.summary or "" for node in made.outline.walk()]
    assert not any("Obey" in each for each in summaries)
    assert any("first part" in each for each in summaries)


def test_a_page_that_hides_nothing_has_no_note(tmp_path: Path) -> None:
    made = mapped(tmp_path, PAGE.format(hidden="<h2>H<sub>2</sub>O &amp; caf\u00e9</h2>"))

    assert ["Shown", "H2O & café", "Also shown"] == [node.title for node in made.outline.walk()]
    assert [] == list(made.metadata.get("notes", ()))
