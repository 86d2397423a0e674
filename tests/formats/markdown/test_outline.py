"""Markdown sections, checked against markdown-it-py in full."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citekit.adapters.formats.line_reader import LinesTextReader
from citekit.adapters.formats.markdown.outliner import MarkdownOutliner, read_headings
from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.locations import Lines
from citekit.domain.progress import silent
from tests.formats.texts import assert_sound, source, spans

lines = st.sampled_from(
    [
        "# A",
        "## B",
        "### C #",
        "Title",
        "=====",
        "-----",
        "```",
        "~~~ x",
        "",
        "text",
        "- item",
        "  # in item",
        "> # quoted",
        "    # code",
        "<!-- # x",
        "-->",
        "#no",
        "####### seven",
        "\\# escaped",
        "1. one",
        "| a | b |",
        "---",
        "***",
    ]
)


def outline(path: Path, content: str | bytes | None = None) -> Outline:
    return MarkdownOutliner(PlainTextOutliner()).outline(source(path, content), silent)


def test_headings_nest_by_level_to_before_the_next_of_the_same_or_a_higher_level(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "# One\ntext\n## Two\n\nThree\n-----\nx\n# Four\n")

    assert [("One", 1, 7), ("Two", 3, 4), ("Three", 5, 7), ("Four", 8, 8)] == spans(found)


def test_headings_in_code_and_comments_are_none(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "# One\n```\n# no\n```\n<!--\n# no\n-->\n\n    # no\n")

    assert [("One", 1, 9)] == spans(found)


def test_front_matter_gives_the_title_and_no_heading(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", '---\ntitle: "The Title"\n---\n\n# One\n')

    assert "The Title" == found.title
    assert [("---", 1, 4), ("One", 5, 5)] != spans(found)
    assert ("One", 5, 5) == spans(found)[-1]


def test_front_matter_may_lack_its_first_line(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "title: The Title\nyear: 2026\n---\n\n# One\n")

    assert found.title == "The Title"
    assert spans(found)[-1] == ("One", 5, 5)
    assert "year: 2026" not in str(spans(found))


def test_a_table_of_contents_is_beside_the_sections_even_if_its_heading_is_higher(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "# Table of Contents\n\n## One\n\ntext\n\n## Two\n\ntext\n")

    assert [item.title for item in found.items] == ["Table of Contents", "One", "Two"]
    assert not found.title


def test_text_before_the_first_heading_is_a_preamble(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "Hello there.\n\n# One\n")

    assert [("preamble", 1, 2), ("section", 3, 3)] == [
        (outline_item.type, first, last)
        for outline_item, (_, first, last) in zip(found.items, spans(found), strict=True)
    ]


def test_summaries_are_sentences_without_markup(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "# One\n\n* See **the** [manual](http://x) of `tools`. It is long.\n")

    assert "See the manual of tools." == found.items[0].summary


def test_a_text_without_headings_falls_back(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "just text\n")

    assert [("just text", 1, 1)] == spans(found)


@given(st.lists(lines, max_size=25).map("\n".join))
def test_headings_are_those_of_a_full_parse(content: str) -> None:
    tokens = MarkdownIt("commonmark").parse(content)
    expected = [
        (token.map[0] + 1, int(token.tag[1:]))
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map and any(map(str.isalnum, inline.content))
    ]
    front = content.startswith("---\n")

    found = [(heading.line, heading.level) for heading in read_headings(content)]

    assert front or expected == found


@given(st.lists(lines, min_size=1, max_size=25).map("\n".join), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_outline_is_sound(tmp_path_factory: pytest.TempPathFactory, content: str, end: str) -> None:
    path = tmp_path_factory.getbasetemp() / "law.md"

    found = outline(path, content.replace("\n", end) + "x")

    assert_sound(found)
    assert len(content.split("\n")) == found.facts["line_count"]


@pytest.mark.corpus
def test_a_real_changelog(corpus: Path) -> None:
    found = outline(corpus / "text" / "gensim-CHANGELOG.md")

    assert_sound(found)
    assert 190 == len(spans(found))
    assert ("Changes", 1, 2748) == spans(found)[0]


@pytest.mark.parametrize(
    "front",
    [
        '---\ntitle: "My Post"\nauthor: Ann\n---\n',
        '+++\ntitle = "My Post"\nauthor = "Ann"\n[params]\n# no heading\n+++\n',
        '{\n  "title": "My Post",\n  "author": "Ann",\n  "x": "# no heading"\n}\n',
    ],
)
def test_front_matter_of_any_kind_gives_the_title_and_is_no_text(tmp_path: Path, front: str) -> None:
    path = tmp_path / "post.md"
    path.write_text(f"{front}\n# One\n\ntext\n")
    found = source(path)

    outline, facts = MarkdownOutliner(PlainTextOutliner()).outline(found, silent), LinesTextReader().facts(found)

    assert ("My Post", ["One"]) == (outline.title, [item.title for item in outline.items])
    assert ("My Post", ("Ann",)) == (facts.title, tuple(facts.authors))
    assert "One\n\ntext" == LinesTextReader().read(found).text.strip()


def test_text_between_front_matter_and_the_first_heading_is_a_preamble_without_it(tmp_path: Path) -> None:
    path = tmp_path / "post.md"
    path.write_text("---\ntitle: My Post\n---\n\nSome words first.\n\n# One\n\ntext\n")

    found = MarkdownOutliner(PlainTextOutliner()).outline(source(path), silent)

    assert [("Some words first.", Lines(4, 6)), ("One", Lines(7, 9))] == [
        (item.title, item.location) for item in found.items
    ]


def test_headings_without_words_rules_above_titles_and_emphasis_are_left_out(tmp_path: Path) -> None:
    text = "# _Keys_ and `_id_` of _all things_\n\ntext\n\n====\nEvents\n====\n\ntext\n\n###\n\n## ***\n"

    for content in (text, text + "\n" * 20_000):
        found = MarkdownOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.md", content), silent)

        assert ["Keys and _id_ of all things", "Events"] == [title for title, _, _ in spans(found)]


def test_headings_keep_their_numbers(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.md", "# 1. Lakes\n\n## 2) Depth\n\n2. Rain\n=======\n\n# 3. **Ice**\n")

    assert found.title == "Lakes"
    assert [each.title for each in found.items] == ["1. Lakes", "3. Ice"]
    assert [each.title for each in found.items[0].children] == ["2) Depth"]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# About This Book #\n\n# Lakes\n\n# Rain\n", None),
        ("# Introduction\n\n# Lakes\n", None),
        ("# Introduction\n\n## Lakes\n", "Introduction"),
        ("# About lakes\n\n# Rain\n", "About lakes"),
    ],
)
def test_the_first_part_of_a_book_is_not_its_title(tmp_path: Path, content: str, title: str | None) -> None:
    assert outline(tmp_path / "a.md", content).title == title


def test_a_line_below_a_table_does_not_make_it_a_heading() -> None:
    found = read_headings("# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\n\n## B\n")

    assert ["A", "B"] == [each.title for each in found]
