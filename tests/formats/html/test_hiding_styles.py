"""The text of a page marks the words that its style hides, whatever the CSS; the words that it shows stay."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from citekit.adapters.formats.html.lines import HtmlLinesTextReader
from citekit.adapters.formats.xhtml.style_sheets import RULES_LIMIT, SIZE_LIMIT
from citekit.domain.digest import Digest
from citekit.domain.formats import by_name
from citekit.domain.source import Source
from tests.formats.html.hiding_styles import HIDDEN, SHOWN, Shape
from tests.formats.html.misnested import HIDDEN as MISNESTED_HIDDEN
from tests.formats.html.misnested import SHOWN as MISNESTED_SHOWN

WORDS = "The treatment cures every single patient."


def seen(folder: Path, page: str) -> str:
    path = folder / "page.html"
    path.write_text(page)
    format = by_name(path.name)
    assert format is not None
    source = Source(path, Digest.of_bytes(page.encode()), len(page), format)
    return HtmlLinesTextReader(as_seen=True).read(source).text


@pytest.mark.parametrize("shape", HIDDEN.values(), ids=list(HIDDEN))
def test_words_that_browsers_hide_are_not_seen(tmp_path: Path, shape: Shape) -> None:
    assert WORDS not in seen(tmp_path, shape.page(WORDS))


@pytest.mark.parametrize("shape", SHOWN.values(), ids=list(SHOWN))
def test_words_that_browsers_show_are_seen(tmp_path: Path, shape: Shape) -> None:
    assert WORDS in seen(tmp_path, shape.page(WORDS))


@pytest.mark.parametrize("shape", MISNESTED_HIDDEN.values(), ids=list(MISNESTED_HIDDEN))
def test_words_that_browsers_hide_in_wrong_markup_are_not_seen(tmp_path: Path, shape: Shape) -> None:
    assert WORDS not in seen(tmp_path, shape.page(WORDS))


@pytest.mark.parametrize("shape", MISNESTED_SHOWN.values(), ids=list(MISNESTED_SHOWN))
def test_words_that_browsers_show_in_wrong_markup_are_seen(tmp_path: Path, shape: Shape) -> None:
    assert WORDS in seen(tmp_path, shape.page(WORDS))


HOSTILE = {
    "comparisons": Shape(
        '<i class="q"></i>' * 2_000 + '<p class="x">{}</p>',
        "".join(f".q[a{at}]{{color:red}}" for at in range(3_000)) + ".x{display:none}",
    ),
    "rules": Shape(
        '<p class="x">{}</p>', "".join(f".q{at}{{color:red}}" for at in range(RULES_LIMIT)) + ".x{display:none}"
    ),
    "deep_ancestors": Shape(
        '<div class="a">' + "<div>" * 70 + '<p class="c">{}</p>' + "</div>" * 70 + "</div>", ".a .c{display:none}"
    ),
    "deep_elements": Shape("<div>" * 3000 + '<p style="display:none">{}</p>'),
    "size": Shape('<p class="x">{}</p>', "/*" + "a" * SIZE_LIMIT + "*/.x{display:none}"),
    "brackets": Shape('<p class="x">{}</p>', "a{b:" + "(" * 10_000 + ")" * 10_000 + "}.x{display:none}"),
    "blocks": Shape('<p class="x">{}</p>', "@media screen{" * 2_000 + ".x{display:none}"),
    "references": Shape(
        '<p class="x">{}</p>',
        "".join(f":root{{--a{at}:var(--a{at + 1})var(--a{at + 1})}}" for at in range(60))
        + ":root{--a60:none}.x{display:var(--a0)}",
    ),
    "cycle": Shape('<p class="x">{}</p>', ":root{--a:var(--b);--b:var(--a)}.x{display:none;display:var(--a)}"),
    "missed_elements": Shape('<p style="display:none">{}</p><ruby>' + "<rp>(</rp>" * 60 + "</ruby>"),
}


@pytest.mark.long
@pytest.mark.parametrize("shape", HOSTILE.values(), ids=list(HOSTILE))
def test_beyond_a_limit_no_words_count_as_seen(tmp_path: Path, shape: Shape) -> None:
    assert WORDS not in seen(tmp_path, shape.page(WORDS))


COSTLY = {
    "attributes": f"<p {' '.join(f'a{at}=1' for at in range(100_000))}>{{}}",
    "depth": "<div>" * 100_000 + "{}",
    "tags_without_end": '<p a="' * 100_000 + "{}",
    "formatting": "".join(f"<font a{at}>" for at in range(3_000)) + "<p>x" * 20_000 + "{}",
}


@pytest.mark.long
@pytest.mark.parametrize("page", COSTLY.values(), ids=list(COSTLY))
def test_markup_that_is_costly_to_parse_is_read_at_once(tmp_path: Path, page: str) -> None:
    started = time.process_time()
    seen(tmp_path, page.replace("{}", WORDS))
    assert time.process_time() - started < 5
