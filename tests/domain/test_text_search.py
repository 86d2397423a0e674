"""Queries for text, and the lines that they match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import RequestRefused
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.quotes.hidden import NOT_VISIBLE
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.text_search.blocks import BLOCK, TextBlock, blocks_of
from citekit.domain.text_search.headings import HEADING_LINES, heading_lines, headings_in
from citekit.domain.text_search.line_pattern import LinePattern
from citekit.domain.text_search.long_lines import cut_around
from citekit.domain.text_search.matching import matches_in, shown_row
from citekit.domain.text_search.query import LONGEST, parse_query
from citekit.domain.words import words_of

NONE: frozenset[tuple[str, ...]] = frozenset()


def lines(text: str, query: str, *titles: str) -> list[tuple[str, str]]:
    headings = frozenset(tuple(words_of(title)) for title in titles)
    block = TextBlock(ExtractedText(UnitKind.PAGE, text, ()))
    return [
        (each.kind.name.lower(), text[each.start : each.end])
        for each in matches_in(block, parse_query(query), headings)
    ]


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("Total assets", [("total",), ("assets",)]),
        ('"net sales" 2023', [("net", "sales"), ("2023",)]),
        ("\u201cnet sales\u201d", [("net", "sales")]),
        ("2,721 A&P", [("2", "721"), ("a", "p")]),
        ('"open', [("open",)]),
        ("total TOTAL", [("total",)]),
    ],
)
def test_a_query_has_words_and_phrases(query: str, phrases: list[tuple[str, ...]]) -> None:
    assert phrases == list(parse_query(query).phrases)


@pytest.mark.parametrize(
    ("query", "regex", "message"),
    [
        ("", False, "no letters or digits"),
        (" ... ", False, "no letters or digits"),
        ("x" * 10_000_000, False, f"at most {LONGEST:,}"),
        (" ".join(map(str, range(40))), False, "words and phrases"),
        ("", True, "is empty"),
        ("(", True, "is invalid"),
        ("(" * 900, True, "nested too deeply"),
        ("(?=x)", True, "not supported"),
        (r"(a)\1", True, "not supported"),
        ("(a{1000}){1000}", True, "too large"),
        ("a{4294967294}", True, "too large"),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused(query: str, regex: bool, message: str) -> None:
    with pytest.raises(RequestRefused, match=message):
        parse_query(query, regex=regex)


def test_one_line_with_all_words_is_better_than_several() -> None:
    text = "Total\nassets\nx\ny\nz\nv\nw\nTotal assets\t12\nu"

    assert [("near", "Total\nassets"), ("line", "Total assets\t12")] == lines(text, "assets total")
    assert [("line", "Total assets\t12")] == lines(text, '"assets 12"')
    assert [("scattered", "Total assets\t12")] == lines(text, "total x 12")
    assert [] == lines(text, "total absent")


def test_a_phrase_may_continue_on_the_next_line() -> None:
    assert [("near", "the net\nsales of")] == lines("a\nthe net\nsales of\nb", '"net sales"')
    assert [] == lines("a\nthe net\nor sales of\nb", '"net sales"')


def test_a_phrase_continues_across_a_dash_but_not_across_ascii_signs() -> None:
    assert [("near", "the net\n\u2014\nsales")] == lines("the net\n\u2014\nsales", '"net sales"')
    assert [] == lines("the net\n***\nsales", '"net sales"')


def test_the_nearest_lines_are_found_for_each_word() -> None:
    text = "net\n\nincome  tax\nnet, net income\nx\ntax\n\u00e9\nincome net"

    assert [("near", "net\n\nincome  tax"), ("line", "net, net income"), ("line", "income net")] == lines(
        text, "net income"
    )
    nearest = [("near", "net\n\nincome  tax"), ("near", "net, net income\nx\ntax")]
    assert nearest == lines(text, "tax net income")


@pytest.mark.parametrize("pattern", ["caf\u00e9|total", "total"])
def test_a_pattern_finds_lines_that_are_not_ascii(pattern: str) -> None:
    text = "x\n\nTOTAL \u2014 12\ncaf\u00c9 total\nnone"

    found = list(LinePattern.of(pattern).lines_matching(text))

    assert [(3, "TOTAL \u2014 12"), (14, "caf\u00c9 total")] == found


def test_titles_of_nodes_and_captions_are_recognized() -> None:
    text = "Balance sheet\nThe balance sheet is here\nTable 4. Balance sheet items"

    assert ["heading", "line", "caption"] == [kind for kind, _ in lines(text, "balance sheet", "BALANCE SHEET")]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Total assets\t$\t24,284\t$\t20,762", "Total assets | $ 24,284 | $ 20,762"),
        ("Capital\t$\t2,634 $\t(1,696\t)\t13\t%", "Capital | $ 2,634 | $ (1,696 ) | 13 %"),
        ("plain text  here ", "plain text here"),
        ("a\t$", "a | $"),
        ("", ""),
    ],
)
def test_cells_are_shown_side_by_side(text: str, row: str) -> None:
    assert row == shown_row(text)


@given(st.text("aB .\u0130", max_size=400), st.lists(st.text("ab", max_size=3), max_size=3), st.integers(20, 60))
def test_a_long_line_is_cut_to_a_part_of_it(line: str, words: list[str], limit: int) -> None:
    shown = cut_around(line, words, limit)

    assert shown.removeprefix("...").removesuffix("...") in line
    assert len(shown) <= limit + 6


def test_a_part_of_a_long_sentence_is_filled_up_with_the_words_around_it() -> None:
    line = "before " * 100 + "award 694658 " + "after " * 100

    shown = cut_around(line, ["694658"], 60)
    assert "before award 694658 after" in shown
    assert 50 < len(shown) <= 66
    assert {"before", "award", "694658", "after"} == set(shown.strip(".").split())


def test_a_long_line_is_cut_around_the_words() -> None:
    line = "Something else. " * 20 + "The queen lays eggs in May. " + "Nothing more. " * 20

    shown = cut_around(line, ["queen", "may"], 60)
    assert "The queen lays eggs in May." in shown
    assert ("...", "...") == (shown[:3], shown[-3:])


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "A", ".", r"\d", r"\w", r"\s", "[a-c]", "[^b]", r"\b", r"\B", "^", "$", "1", " "]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}?"])).map(
            lambda each: f"(?:{each[0]}){each[1]}"
        ),
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda each: f"(?:{each[0]}|{each[1]})"),
    ),
    max_leaves=6,
)


@given(pattern=PATTERNS, line=st.text("abAB1 -\u00e9", max_size=8))
def test_a_pattern_matches_as_re_does(pattern: str, line: str) -> None:
    assert bool(re.search(pattern, line, re.IGNORECASE)) == LinePattern.of(pattern).matches(line)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a|aa)+$", "a*a*a*a*a*b", "(.*)(.*)(.*)(.*)(.*)b"])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    compiled = LinePattern.of(pattern)

    assert not compiled.matches("a" * 20_000 + "c")
    assert compiled._spent < 10_000


@pytest.mark.long
def test_a_pattern_with_too_many_states_is_refused() -> None:
    pattern = LinePattern.of("(a|b)*a" + "(a|b)" * 200 + "[xy]")

    every = "".join(f"{number:b}".replace("0", "a").replace("1", "b") for number in range(40_000))

    with pytest.raises(RequestRefused, match="takes too long"):
        pattern.matches(every)


def texts_of(kind: UnitKind, *texts: str) -> ExtractedText:
    return ExtractedText.joined(kind, texts, "\n")


@pytest.mark.long
@given(
    st.sampled_from([UnitKind.PAGE, UnitKind.LINE, UnitKind.CHAPTER]),
    st.lists(st.text("ab \n", max_size=40).map(lambda each: each * 100), max_size=8),
)
def test_blocks_have_all_text_at_its_location(kind: UnitKind, texts: list[str]) -> None:
    whole = texts_of(kind, *(text.replace("\n", "c") if kind is UnitKind.LINE else text for text in texts))

    blocks = list(blocks_of([Quotable.of(whole)]))

    assert whole.text.split() == " ".join(block.text for block in blocks).split()
    at = 0
    for block in blocks:
        for word in re.finditer(r"\S+", block.text):
            at = whole.text.index(word[0], at)
            assert whole.locate(at, at + len(word[0])) == block.located.locate(*word.span())
            at += len(word[0])
        assert kind is UnitKind.PAGE or len(block.text) <= BLOCK + 4100


def test_pages_with_hidden_text_have_another_block() -> None:
    shown = texts_of(UnitKind.PAGE, "one", "two", "three")
    whole = texts_of(UnitKind.PAGE, "one", "two, and secret words", "three")

    blocks = list(blocks_of([Quotable.of(shown), Quotable.of(whole, NOT_VISIBLE)]))

    assert [("one", False), ("two", False), ("three", False), ("two, and secret words", True)] == [
        (block.text, block.hidden) for block in blocks
    ]
    assert shown.locate(4, 7) == blocks[3].located.locate(0, 3)


def plain_reading(lines: list[str], title: tuple[str, ...]) -> tuple[int, int] | None:
    """The rule of `heading_lines`, one title at a time."""

    def unnumbered(words: list[str]) -> list[str]:
        return next((words[at:] for at, word in enumerate(words) if not word.isdecimal()), words)

    wanted = unnumbered(list(title))
    for first, line in enumerate(lines):
        words: list[str] = []
        for last in range(first, min(first + HEADING_LINES, len(lines))) if wanted and line.strip() else ():
            words += lines[last].split()
            if unnumbered(words) == wanted and lines[last].strip():
                return first, last
            if unnumbered(words) != wanted[: len(unnumbered(words))]:
                break
    return None


WORDS = st.lists(st.sampled_from(["a", "b", "1", "2"]), max_size=4)


@given(st.lists(WORDS.map(" ".join), max_size=7), st.sets(WORDS.map(tuple), max_size=4))
def test_titles_are_found_together_as_one_by_one(lines: list[str], titles: set[tuple[str, ...]]) -> None:
    together = headings_in(lines, titles)

    for title in titles:
        assert together.get(title) == heading_lines(lines, title) == plain_reading(lines, title)


@pytest.mark.long
def test_as_many_titles_as_lines_are_found() -> None:
    titles = [("chapter", f"n{number}") for number in range(50_000)]  # times as many lines: hours, one by one

    found = headings_in([" ".join(title) for title in titles], set(titles))

    assert found == {title: (number, number) for number, title in enumerate(titles)}
