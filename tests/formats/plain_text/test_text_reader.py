"""Texts, Markdown, reStructuredText, subtitles and HTML by their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.html.lines import HtmlLinesTextReader
from citekit.adapters.formats.line_reader import LinesTextReader
from citekit.adapters.formats.markdown.plain_lines import markdown_visible_lines
from citekit.adapters.formats.markdown.plain_lines_by_rules import visible_lines_by_rules
from citekit.adapters.formats.markup.rst_plain_lines import rst_visible_lines
from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.evidence import Form, Options
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Lines
from citekit.domain.source import Source
from tests.formats.html.visible import letters, visible


def source(path: Path, content: str | bytes) -> Source:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return FileSources().identify(path)


def by_line(extracted_text: ExtractedText) -> list[tuple[int, str]]:
    return [(unit.number, extracted_text.text[unit.start : unit.end]) for unit in extracted_text.units]


@given(st.lists(st.text("aé \t\u2028\x0b\x85", max_size=5), min_size=1, max_size=20), st.data())
def test_lines_have_the_numbers_by_which_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    text = "x" + "".join(line + data.draw(st.sampled_from(["\n", "\r\n", "\r"])) for line in lines)
    given_source = source(folder / "a.txt", text.encode(data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))))

    found = by_line(LinesTextReader().read(given_source))

    for number, words in found:
        TextExtractor().extract(given_source, Lines(number, number), Options(form=Form.TEXT), folder / str(number))
        assert words == (folder / str(number)).read_bytes().decode().strip()


def test_bytes_of_no_encoding_are_read_all_the_same(tmp_path: Path) -> None:
    given_source = source(tmp_path / "a.txt", b"plain\n\x81\x8d\x8f\xff\xfe\x90 odd\nend\n")

    found = by_line(LinesTextReader().read(given_source))

    assert [1, 2, 3] == [number for number, _ in found]
    assert ("plain", "end") == (found[0][1], found[2][1])
    assert found[1][1].endswith("odd")


def test_a_broken_character_never_swallows_the_end_of_its_line(tmp_path: Path) -> None:
    japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。".encode("shift_jis") * 9
    declared = b'<?xml version="1.0" encoding="shift_jis"?>\n'
    given_source = source(tmp_path / "a.xml", declared + japanese + b"\x82\n" + japanese + b"\n\x83")

    found = by_line(LinesTextReader().read(given_source))

    assert [1, 2, 3, 4] == [number for number, _ in found]
    assert "名前" in found[1][1]
    assert "名前" in found[2][1]


def test_a_text_of_blanks_is_an_empty_manuscript(tmp_path: Path) -> None:
    extracted_text = LinesTextReader().read(source(tmp_path / "a.txt", " \n\n\t\n"))

    assert "" == extracted_text.text
    assert 0 == len(extracted_text.units)


MARKDOWN = """---
title: 'Whales and *Ships*'
author: [Ada, "Bo"]
lang: en-GB
---

# One *two*

A [link](http://x.example/a "t") and ![picture](p.png),
**bold** `a_b *c*` and <em>tagged</em> &amp; \\*star\\*.

Setext
------

> - quoted
>   item

1. first

```python
# comment
x = 1
```

| a | b |
|---|---|
| c | **d** |

<div>
<script>alert(1)</script>
block
</div>

***

<!-- hidden
still --> seen

[ref]: http://x.example "no words"
See [ref] and [words][ref].
"""


def test_markdown_is_read_without_marks_on_its_lines(tmp_path: Path) -> None:
    found = by_line(LinesTextReader().read(source(tmp_path / "a.md", MARKDOWN)))

    assert [
        (7, "One two"),
        (9, "A link and picture,"),
        (10, "bold a_b *c* and tagged & *star*."),
        (12, "Setext"),
        (15, "quoted"),
        (16, "item"),
        (18, "first"),
        (21, "# comment"),
        (22, "x = 1"),
        (25, "a\tb"),
        (27, "c\td"),
        (31, "block"),
        (37, "seen"),
        (40, "See ref and words."),
    ] == found


@pytest.mark.parametrize("spoken", [markdown_visible_lines, visible_lines_by_rules])
def test_both_ways_of_reading_markdown_keep_every_line(spoken: object) -> None:
    lines = MARKDOWN.split("\n")[5:]

    found: Sequence[str] = list(spoken(lines))  # type: ignore[operator]

    assert len(lines) == len(found)
    assert ("One two", "Setext", "x = 1") == (found[1], found[6], found[16])


def test_the_words_of_markdown_are_those_of_its_html(tmp_path: Path) -> None:
    from markdown_it import MarkdownIt

    body = "\n".join(MARKDOWN.split("\n")[5:])
    rendered = MarkdownIt("commonmark").enable("table").render(body)
    pictures = re.sub(r'<img [^>]*alt="([^"]*)"[^>]*>', r"\1", rendered)

    found = LinesTextReader().read(source(tmp_path / "a.md", body)).text

    assert letters("".join(visible(pictures).pieces)) == letters(found)


def test_breaks_inside_of_code_move_later_lines_as_little_as_can_be(tmp_path: Path) -> None:
    text = "some `code\nover lines` and\nthen more words\n"

    found = by_line(LinesTextReader().read(source(tmp_path / "a.md", text)))

    assert (3, "then more words") == found[-1]


def test_a_line_of_many_megabytes_is_read(tmp_path: Path) -> None:
    line = "word *and* [link](x) `code " * 95_000

    found = by_line(LinesTextReader().read(source(tmp_path / "a.md", f"# Title\n\n{line}\n\nend\n")))

    assert [1, 3, 5] == [number for number, _ in found]
    assert line.strip() == found[1][1]


def test_the_facts_of_markdown_are_its_front_matter_or_its_first_heading(tmp_path: Path) -> None:
    front = LinesTextReader().facts(source(tmp_path / "a.md", MARKDOWN))
    plain = LinesTextReader().facts(source(tmp_path / "b.md", "text\n\n```\n# no\n```\n\n## Two\n\n# The *First* #\n"))

    assert ("Whales and *Ships*", ("Ada", "Bo"), "en") == (front.title, front.authors, front.language)
    assert ("The First", (), None) == (plain.title, plain.authors, plain.language)


def test_the_facts_of_a_plain_text_are_its_header(tmp_path: Path) -> None:
    header = "The eBook\n\nTitle: A Long\n       Title\nAuthor: Jane Austen\nRelease Date: 2010\nLanguage: English\n\n*** START\nTitle: no\n"

    facts = LinesTextReader().facts(source(tmp_path / "a.txt", header))
    none = LinesTextReader().facts(source(tmp_path / "b.txt", "EMMA\n\nBy Jane Austen\n"))

    assert ("A Long Title", ("Jane Austen",), "en") == (facts.title, facts.authors, facts.language)
    assert (None, (), None) == (none.title, none.authors, none.language)


def test_restructured_text_is_read_without_marks() -> None:
    lines = ["=====", "Title", "=====", "", "Some **bold**, ``a*b`` and :ref:`words <x>`::", "", ".. note:: Take care", "   :class: x", "", "   of `this <http://x>`_.", ".. _target:", "", "* item"]  # fmt: skip

    found = [line.strip() for line in rst_visible_lines(lines)]

    assert [
        "",
        "Title",
        "",
        "",
        "Some bold, a*b and words:",
        "",
        "Take care",
        "",
        "",
        "of this.",
        "",
        "",
        "item",
    ] == found


@pytest.mark.long
def test_html_beyond_65535_lines_keeps_its_numbers(tmp_path: Path) -> None:
    body = "".join(f"<p>word{n}</p>\n\n\n\n" if n % 7 else f"<p\nclass='x'>\nword{n}\n</p>\n" for n in range(18_000))
    document = f"<html><head><title>no</title></head>\n<body>{body}</body></html>\n"

    found = by_line(HtmlLinesTextReader().read(source(tmp_path / "a.html", document)))

    assert visible(document).lines == found
    assert found[-1][0] > 65_535


HOSTILE = """<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "bomb">
]>
<html lang="de-AT"><head><title>A &amp; B</title><meta name="Author" content="Zoë"><script>bad()</script></head>
<body onload="bad()"><p>one &x; &y; &hellip;
two <b>three</b><!-- no
no --> four</p><style>p { }
</style><script>bad("<p>no</p>")
</script>a < b <img src="http://x.example/p.png" alt="no">
<iframe src="http://x.example"></iframe><template>no</template></body></html>
"""


def test_hostile_html_is_read_and_nothing_of_it_done(tmp_path: Path) -> None:
    given_source = source(tmp_path / "a.html", HOSTILE)

    found = by_line(HtmlLinesTextReader().read(given_source))
    facts = HtmlLinesTextReader().facts(given_source)

    assert [(2, "]>"), (4, "one &x; &y; …"), (5, "two three"), (6, "four"), (8, "a < b")] == found
    assert ("A & B", ("Zoë",), "de") == (facts.title, facts.authors, facts.language)


@pytest.mark.long
@pytest.mark.parametrize("document", ["<div>" * 100_000 + "words", "<p>words\n" * 20_000 + "<b>" * 490_000])
def test_html_that_no_parser_takes_still_gives_its_words(tmp_path: Path, document: str) -> None:
    found = HtmlLinesTextReader().read(source(tmp_path / "a.html", document))

    assert document.count("words") == found.text.count("words")


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</b>", "\n", "a", "é ", "<br\n>", "<!-- x\n -->", "<td>"]), max_size=30
    )
)
def test_every_word_of_html_stands_on_its_line(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    document = f"<html><body>{''.join(pieces)}z</body></html>"
    given_source = source(tmp_path_factory.mktemp("html") / "a.html", document)

    found = by_line(HtmlLinesTextReader().read(given_source))

    assert merged(visible(document).lines) == merged((number, letters(words)) for number, words in found)


def merged(lines: object) -> list[tuple[int, str]]:
    found: dict[int, str] = {}
    for number, words in lines:  # type: ignore[attr-defined]
        found[number] = found.get(number, "") + words
    return list(found.items())


def test_a_vtt_file_says_what_its_cues_say(tmp_path: Path) -> None:
    text = "WEBVTT\nKind: captions\n\nNOTE a\nremark\n\nintro\n00:01.000 --> 00:02.000\n<v Ann>Hello <i>you</i>\n1984\n"

    found = by_line(LinesTextReader().read(source(tmp_path / "a.vtt", text)))

    assert [(9, "Hello you"), (10, "1984")] == found


@pytest.mark.corpus
def test_real_markdown_holds_the_words_of_its_html(corpus: Path) -> None:
    from markdown_it import MarkdownIt

    path = corpus / "text" / "gensim-CHANGELOG.md"
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(path.read_text(encoding="utf-8"))
    pictures = re.sub(r'<img [^>]*alt="([^"]*)"[^>]*>', r"\1", rendered)

    found = LinesTextReader().read(FileSources().identify(path)).text

    assert letters("".join(visible(pictures).pieces)) == letters(found)
