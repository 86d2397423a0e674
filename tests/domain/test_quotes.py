"""Whether a quote stands in a text: normal forms and finding."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import RequestRefused
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.locations import Lines, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.quotes.case import meaningful_case
from citekit.domain.quotes.effort import MOST, Effort
from citekit.domain.quotes.finding import Match, matches
from citekit.domain.quotes.headers_footers import without_running_lines
from citekit.domain.quotes.near import nearest_passage
from citekit.domain.quotes.normal_form import letters_of, normalised, same_words
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.quote import LONGEST, ways_to_read
from citekit.domain.quotes.superscripts import CUT, SCRIPTS, subscript, superscript
from citekit.domain.quotes.transcript import Transcript
from tests.representatives import representatives

ODD = "\u00b2\u2076\u2082\u207b\u2020abcAB12 -\n\t\u00ad\u200b\u0301\u2019'`\"\u2013\u2014\u2212\ufb01\ufb03ßİŉ\u0345日本、，ＡｱA\u3099½²\u2027.…한\u1100\u1161"
texts = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), max_size=40)


def quotable(text: str) -> Quotable:
    return Quotable.of(ExtractedText.joined(UnitKind.LINE, text.split("\f"), "\n"))


def found(text: str, quote: str) -> list[Match]:
    """The matches in the first way to read the quote that has any."""
    source = quotable(text)
    each = (list(matches(source, pieces, 0, len(source.text))) for pieces in ways_to_read(quote))
    return next(filter(None, each), [])


@given(texts)
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normalised(text).text

    assert once == normalised(once).text


@given(texts)
def test_every_character_of_a_normal_form_has_a_way_back(text: str) -> None:
    normal = normalised(text)

    assert len(normal.text) == len(normal.starts) == len(normal.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(normal.starts, normal.ends, strict=True))
    assert sorted(normal.starts) == list(normal.starts)


@given(texts)
def test_letters_are_the_normal_form_without_its_gaps(text: str) -> None:
    assert normalised(text).letters().text == letters_of(text)


@given(st.text(st.sampled_from("ab -\n'\u2019\ufb01\u00e9.1 "), min_size=1, max_size=6000).filter(str.strip), st.data())
def test_letters_lead_back_to_the_text_across_blocks(text: str, data: st.DataObject) -> None:
    source = quotable(text * 3)
    if not source.letters:
        return
    start = data.draw(st.integers(0, len(source.letters) - 1))
    end = data.draw(st.integers(start + 1, len(source.letters)))

    origin = source.origin(start, end)

    if origin is not None:
        assert source.letters[start:end] == letters_of(source.text[slice(*origin)])
        assert start == source.letters_before(origin[0])


words = st.lists(st.text("abcdeé", min_size=1, max_size=6), min_size=3, max_size=60)


@given(words, st.data())
def test_what_is_cut_out_of_a_text_at_words_is_found_exactly(parts: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first + 1, len(parts)))
    text, quote = " ".join(parts), " ".join(parts[first:last])

    places = found(text, quote)

    start = len(" ".join(parts[:first])) + (first > 0)
    assert Match(start, start + len(quote)) in places


@given(words, st.data())
def test_what_is_there_exactly_is_there_in_other_clothes(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    clothes = data.draw(st.sampled_from([str.upper, str.title, lambda each: each.replace(" ", "\n\t")]))

    assert found(text, clothes(text))
    assert found(clothes(text), text)


@pytest.mark.parametrize(
    ("text", "quote", "said"),
    [
        ("The knowledge of it.", "knowledge of", ()),
        ("The know-\nledge of it.", "knowledge of", ("hyphenation at the end of a line",)),
        ("A well-\nknown fact", "well-known fact", ("hyphenation at the end of a line",)),
        ("A well-\nknown fact", "well- known fact", ("hyphenation at the end of a line",)),
        ("an e\ufb03cient o\ufb03ce", "efficient office", ("ligatures",)),
        ("know\u00adledge here", "knowledge here", ("soft hyphens",)),
        ("He said \u201cno\u201d twice", 'said "no" twice', ("quotation marks",)),
        ("pages 3\u20135 of it", "pages 3-5 of it", ("dashes",)),
        ("over two\nlines here", "two lines", ("white space",)),
        ("some 12.5 % in it", "12.5% in", ("white space",)),
        ("let X +1 be", "x + 1", ("white space", "case")),
        ("THE END of it", "the end", ("case",)),
        ("cafe\u0301 noir", "caf\u00e9 noir", ("forms of characters",)),
        ("\uff21\uff22\uff23 wide", "ABC wide", ("forms of characters",)),
        ("これは日本\n語です", "日本語", ("white space",)),
        ("It\u2019s one\nthing", "IT'S ONE THING", ("quotation marks", "white space", "case")),
        ("she wrote no more", "\u201cwrote no more\u201d", ()),
    ],
)
def test_what_differs_is_said_in_words(text: str, quote: str, said: tuple[str, ...]) -> None:
    (match,) = found(text, quote)

    assert said == match.differences


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It is not true.", "It is true."),
        ("He was unhappy then", "happy then"),
        ("They cannot go", "They can"),
        ("They can't go", "They can"),
        ("I WON\u2019T go", "I won"),
        ("a non-linear model", "linear model"),
        ("a non-\nlinear model", "linear model"),
        ("to re-sign it", "to resign it"),
        ("now here it is", "nowhere it is"),
        ("nowhere it is", "now here it is"),
        ("about 10\u00b2 of them", "about 102 of them"),
        ("some 1\u00bd hours", "some 11/2 hours"),
        ("costs 2.5 percent", "5 percent"),
        ("costs 2 percent", "costs 2.0 percent"),
        ("it has 5,000 users", "it has 5"),
        ("at \u22125 degrees", "5 degrees"),
        ("at 5 degrees", "at -5 degrees"),
        ("1939-\n1945", "19391945"),
        ("6\u2032 tall", "6\u2033 tall"),
        ("its own", "it's own"),
        ("one, two", "one two"),
        ("on and on. Then more", "Then on"),
        ("\u00e9t\u00e9", "ete"),
        ("Latin e\u0301", "Latin e"),
        ("a b c", "c ... a"),
        ("the o\ufb03ce", "the of"),
    ],
)
def test_what_says_something_else_is_not_found(text: str, quote: str) -> None:
    assert [] == found(text, quote)


def test_an_ellipsis_stands_for_what_was_left_out() -> None:
    text = "We hold, after long thought, these truths to be plain. Then other things."

    assert ["We hold, after long thought, these truths"] == [
        text[each.start : each.end] for each in found(text, "We hold ... these truths")
    ]
    assert found(text, "We hold [\u2026] truths")
    assert found(text, "We hold (...) plain")
    assert [] == found(text, "these truths ... We hold")


def test_an_ellipsis_of_the_source_is_found_as_it_is() -> None:
    (match,) = found("Well ... I never did", "Well ... I never")

    assert match.exact


def test_an_ellipsis_does_not_stand_for_a_whole_book() -> None:
    assert [] == found(f"first words {'and so on ' * 2000}last words", "first words ... last words")


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("...!?", "no letters or digits"),
        ("a" * (LONGEST + 1), "The maximum is"),
        ("a... " * 60, "parts"),
    ],
)
def test_a_quote_without_words_or_end_is_refused(quote: str, said: str) -> None:
    with pytest.raises(RequestRefused, match=said):
        ways_to_read(quote)


def test_a_seam_may_be_a_hyphen_or_nothing_but_no_space() -> None:
    seam = normalised("well-\nknown").text

    assert [True, True, False] == [same_words(seam, each) for each in ("well-known", "wellknown", "well known")]


def test_running_heads_and_feet_are_left_out() -> None:
    pages = [f"My Book {number}\ntext of page number {name}\n{number}" for number, name in enumerate("abcde", 1)]

    bare = without_running_lines(ExtractedText.joined(UnitKind.PAGE, pages, "\n"))

    assert bare is not None
    assert "\n".join(f"text of page number {name}" for name in "abcde") == bare.text
    assert 5 == bare.unit_at(len(bare.text) - 1).number


def test_a_page_goes_on_behind_the_head_of_a_short_chapter() -> None:
    heads = [
        "",
        "My Book\n\nA. Author\n\n- 2 -\n\n",
        "Chapter 1: Seas\n3\n",
        "My Book\n\nA. Author\n\n- 4 -\n\n",
        "My Book\n\n5\n",
        "6\n",
    ]
    pages = [
        f"{head}tems of page {name}\n{name} here\n{name} there\n{name} on file sys-"
        for head, name in zip(heads, "abcdef", strict=True)
    ]
    paged = ExtractedText.joined(UnitKind.PAGE, [*pages, "My Book\n- 7 -\nand so it ends"], "\n")

    bare = without_running_lines(paged)

    assert bare is not None
    source = Quotable.of(bare)
    (way,) = ways_to_read("file systems of page c")
    assert [Pages((2, 3))] == [bare.locate(each.start, each.end) for each in matches(source, way, 0, len(source.text))]
    assert "My Book" not in bare.text
    (head,) = ways_to_read("Chapter 1: Seas")
    assert [True] == [match.exact for match in matches(Quotable.of(paged), head, 0, len(paged.text))]


@pytest.mark.parametrize(
    ("text", "quote", "shown"),
    [
        ("It costs $1,200,000 now", "costs $1,200", "costs $1,200,000"),
        ("It costs 1 200 000 now", "costs 1 200", "costs 1 200 000"),
        ("So they can't go", "they can", "they can't"),
        ("It was \u22125 degrees", "5 degrees", "\u22125 degrees"),
        ("It out-\nperforms the old way by far.", "performs the old way by far", "out-\nperforms the old way by far"),
        ("We want the old way of perfor-\nmance.", "want the old way of perfor", "want the old way of perfor-\nmance"),
    ],
)
def test_a_near_passage_shows_what_differs_at_its_ends(text: str, quote: str, shown: str) -> None:
    (piece,) = ways_to_read(quote)[0]

    near = nearest_passage(quotable(text), piece)

    assert near is not None
    assert shown == text[near.start : near.end]


def test_the_nearest_passage_is_the_one_with_most_words_in_common() -> None:
    text = "An aside. The quick brown fox jumps over the lazy dog. " + "Other words follow it here. " * 30

    source = quotable(text)
    (piece,) = ways_to_read("the quick brown fox leaps over the lazy dog")[0]
    near = nearest_passage(source, piece)

    assert near is not None
    assert "The quick brown fox jumps over the lazy dog" in text[near.start : near.end]
    assert 0.8 < near.similarity < 1


def test_nothing_is_near_a_quote_of_other_words() -> None:
    (piece,) = ways_to_read("zebra quixotic umbrella marmalade")[0]

    assert None is nearest_passage(quotable("The quick brown fox. " * 20), piece)


def test_subtitles_are_found_by_the_time_they_are_shown() -> None:
    spoken = Transcript.of([(1.0, 2.5, "from fairest creatures"), (2.5, 5.0001, "we desire increase")], Modality.AUDIO)
    start = spoken.text.index("creatures")

    assert TimeSpan(1.0, 5.001, Modality.AUDIO) == spoken.locate(start, start + 15)
    assert (0, 22) == spoken.span_of(TimeSpan(0.5, 1.5, Modality.AUDIO))
    assert None is spoken.span_of(TimeSpan(9, 12, Modality.AUDIO))
    assert None is spoken.span_of(Lines(1, 2))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It was 1\u00a0500\u202f000 euros.", "500\u202f000 euros"),
        ("It was 1\u00a0500\u202f000 euros.", "It was 1\u00a0500"),
        ("It was 1'500'000 francs.", "500'000 francs"),
        ("It was 1\u2019500\u2019000 francs.", "It was 1\u2019500"),
        ("It weighs 10\u207b\u2075 kg.", "It weighs 10"),
        ("It is 1/2 percent.", "It is 1"),
        ("It is 1/2 percent.", "2 percent"),
        ("He earned \u2212 5 percent.", "5 percent"),
        ("It was 1 500 000 euros.", "500 000 euros"),
        ("It was 1\u2009500\u2009000 euros.", "500\u2009000"),
        ("It was 1\u00a0500\u00a0000 euros.", "500 000 euros"),
        ("It was 1 500 000 euros.", "It was 1 500"),
        ("It was 1 500 euros.", "500 euros"),
        ("It is 1.5 percent.", "5 percent"),
        ("It is 1\u00b75 percent.", "5 percent"),
        ("It is .5 percent.", "5 percent"),
        ("It is \u00b15 percent.", "5 percent"),
        ("It has 500,000 users.", "000 users"),
        ("See 4.14 for more", "See 4."),
        ("See 4.14 for more", ".14 for more"),
        ("Meet at 12:30.", "Meet at 12"),
        ("Meet at 12:30.", "30."),
        ("It costs $5-6 now", "It costs $5"),
        ("The ratio 3:1 holds", "1 holds"),
        ("See pages 12\u201315.", "See pages 12"),
        ("On 2024-05-06 it rose", "On 2024-05"),
        ("On 2024-05-06 it rose", "-06 it rose"),
        ("From 1939--1945 it", "1945 it"),
        ("Give 10 mg/kg daily.", "Give 10 mg"),
        ("It goes 5 km/h.", "goes 5 km"),
        ("It goes 3 m\u00b7s\u22121 here", "goes 3 m"),
        ("It costs $5/month.", "costs $5"),
        ("They work 5 days/week.", "work 5 days"),
    ],
)
def test_no_number_is_cut_in_two(text: str, quote: str) -> None:
    assert [] == found(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("In 2010\u00a0500 people came.", "500 people came"),
        ("In 2010\u00a0500 people came.", "In 2010"),
        ("- 5 apples", "5 apples"),
        ("the '500' of Indianapolis", "500"),
        ("In 2010 500 people came.", "500 people came"),
        ("It was 1 500 000 euros.", "1 500 000 euros"),
        ("sizes 20 80 100 200 300 400", "200 300"),
        ("It ended in 4. Then 5.", "ended in 4."),
        ("Meet at 12:30.", "at 12:30"),
        ("It is 5-fold now", "is 5-fold"),
        ("The rule of 12: 5 apples", "rule of 12"),
        ("From 1939 - 1945 it", "From 1939"),
        ("In 1939\u2014he was", "In 1939"),
        ("Give 10 mg/kg daily.", "10 mg/kg"),
        ("It is 30 km/19 mi away", "30 km"),
        ("Men and/or women", "Men and"),
        ("See chapter IV/V", "chapter IV"),
        ("10 mg or/and 20 mg", "10 mg or"),
    ],
)
def test_numbers_beside_each_other_are_two(text: str, quote: str) -> None:
    assert found(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("ประเทศไทยเป็นประเทศที่สวยงามมาก", "เป็นประเทศที่"),
        ("ພາສາລາວເປັນພາສາ", "ເປັນພາສາ"),
        ("រាជរដ្ឋាភិបាលកម្ពុជា", "កម្ពុជា"),
    ],
)
def test_words_of_scripts_without_spaces_are_found(text: str, quote: str) -> None:
    assert [True] == [each.exact for each in found(text, quote)]


@pytest.mark.parametrize(("text", "quote"), [("रामायण एक ग्रन्थ है", "राम"), ("वे नहीं आए", "वे नही"), ("ที่นี่", "ท")])
def test_no_letter_is_parted_from_its_vowel(text: str, quote: str) -> None:
    assert [] == found(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"), [("I \u2764\ufe0f books", "I \u2764 books"), ("葛\U000e0100城市", "葛城市")]
)
def test_a_choice_of_shape_is_no_other_character(text: str, quote: str) -> None:
    assert [("invisible characters",)] == [each.differences for each in found(text, quote)]
    assert [("invisible characters",)] == [each.differences for each in found(quote, text)]


@pytest.mark.parametrize(
    "quote",
    [
        "Total assets | $ 32,696 | 29,505",
        "| Total assets | $ 32,696 | 29,505 |",
        "Cash | 1 | 2\n| Total assets | $ 32,696 |",
    ],
)
def test_the_cells_of_a_row_may_have_bars_between_them(quote: str) -> None:
    text = "Cash\t1\t2\nTotal assets\t$\t32,696\t29,505\nOther"

    assert ["bars between cells"] == [each.differences[0] for each in found(text, quote)]
    assert [] == found(text, quote.replace("32,696", "32,697"))
    assert [()] == [each.differences for each in found("| a | b |\n|---|---|", "| a | b |")]


def test_a_quote_with_words_left_out_is_not_exact() -> None:
    assert [("words left out",)] == [
        each.differences for each in found("It does not oblige us.", "It does ... oblige us.")
    ]


@pytest.mark.parametrize(
    ("text", "quote", "said"),
    [
        ("The tide\u00b9\u00b2 rises.", "The tide rises.", ("note marks",)),
        ("The tide.\u2075 It rises.", "The tide. It rises.", ("note marks",)),
        ("In 1999\u00b9 it rose.", "In 1999 it rose.", ("note marks",)),
        ("The tide \u00b9\u2070 rises.", "The tide rises.", ("note marks",)),
        ("The tide\u2020 rises.", "The tide rises.", ("note marks",)),
        ("The tide\u00b9\u2e34\u00b2 rises.", "The tide1,2 rises.", ("superscripts and subscripts",)),
        ("The tide\u00b9\u00b2 rises.", "tide12 rises", ("superscripts and subscripts",)),
        ("The tide\u00b9\u00b2 rises.", "The tide", ()),
        ("\u00b9 See Smith.\n\u00b2See Jones.", "See Jones.", ()),
        ("some CO\u2082 here", "CO2 here", ("superscripts and subscripts",)),
        ("of H\u2082SO\u2084 and H\u2082O", "of H2SO4 and H2O", ("superscripts and subscripts",)),
        ("some Ca(OH)\u2082 here", "Ca(OH)2 here", ("superscripts and subscripts",)),
        ("40 per cent\u00b9 of it", "40 per cent of it", ("note marks",)),
        ("about 10\u2076 of them", "about 10^6 of", ("superscripts and subscripts",)),
        ("about 10 m\u00b2 of it", "about 10 m2 of it", ("superscripts and subscripts",)),
        ("in this file. \u00b3 This", "this file. 3 This", ("superscripts and subscripts",)),
        ("about 10\u2076 of them", "10\u2076", ()),
        ("CO\u2082 and m\u00b3 of it", "CO2 and m3 of", ("superscripts and subscripts",)),
        ("10\u2076 m\u00b2 per H\u2082O tank", "10^6 m2 per H2O tank", ("superscripts and subscripts",)),
        ("the F16 in CO\u2082 and m\u00b3", "F16 in CO2 and m3", ("superscripts and subscripts",)),
        ("m\u00b2 of CO\u2082", "m2", ("superscripts and subscripts",)),
        ("Ann\u204e\u207a, Bob\u204e and Franz\u207a, all", "Ann, Bob and Franz, all", ("note marks",)),
        ("\u00b9\u2074C dating", "\u00b9\u2074C dating", ()),
    ],
)
def test_the_mark_of_a_note_may_be_passed_over(text: str, quote: str, said: tuple[str, ...]) -> None:
    assert [said] == [each.differences for each in found(text, quote)]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("about 10\u2076 of them", "about 106 of them"),
        ("about 10\u2076 of them", "about 10"),
        ("10\u2076 m\u00b2 of CO\u2082", "106 m2 of CO2"),
        ("CO\u2082 and m\u00b3 of it", "CO\u00b2 and m3 of it"),
        ("CO\u2082 and m\u00b3 of it", "CO3 and m3 of it"),
        ("in Na\u207a and Cl", "in Na and Cl"),
        ("about 10\u2076 of them", "about 10 of them"),
        ("about 10\u2076 of them", "10\u2077"),
        ("some 5 m\u00b2 of it", "5 m of it"),
        ("some 5 m\u00b2 of it", "some 5 m"),
        ("sine sin\u00b2 x is", "sin x is"),
        ("arcsin\u00b2 x is", "arcsin x is"),
        ("a metre per second\u00b2 of it", "metre per second"),
        ("mass \u00d7 velocity\u00b2 is", "mass \u00d7 velocity"),
        ("(a+b)\u00b2 = c", "(a+b) = c"),
        ("(a+b)\u00b2 = c", "(a+b)"),
        ("some CO\u2082 here", "CO here"),
        ("some CO\u2082 here", "CO\u00b2 here"),
        ("log\u20828 is three", "28 is three"),
        ("log\u20828 is three", "8 is three"),
        ("so\u2076 5 apples", "65 apples"),
        ("The tide\u00b9\u00b2 rises.", "tide1 rises"),
        ("The tide rises.", "tide\u00b9 rises"),
        ("\u00b9\u2074C dating", "C dating"),
        ("20 Jy beam\u207b\u00b9 by", "beam by"),
    ],
)
def test_an_exponent_or_index_is_no_mark_of_a_note(text: str, quote: str) -> None:
    assert [] == found(text, quote)


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.text("abc1)", max_size=4))
def test_a_text_that_is_raised_or_lowered_stays_as_long(text: str, before: str) -> None:
    assert len(text) == len(superscript(text, before)) == len(subscript(text, before))


def test_words_that_stand_higher_stay_words() -> None:
    assert ["st", "lle", "er", "\u207f", "\u207b\u2075"] == [
        superscript("st", "1"),
        superscript("lle", "M"),
        superscript("er", "1"),
        superscript("n", "2"),
        superscript("-5", "10"),
    ]
    assert all(re.fullmatch(f"[{SCRIPTS}]", superscript(digit)) for digit in "0123456789")


def test_no_quote_runs_over_a_long_pause_between_subtitles() -> None:
    cues = [(1, 2, "We hold these"), (3.5, 4, "truths dear."), (9, 10, "Another topic"), (16, 17, "runs on. The end")]
    spoken = Transcript.of(cues, Modality.AUDIO)
    source = Quotable.of(spoken)

    def times(quote: str) -> list[str]:
        found = matches(source, ways_to_read(quote)[0], 0, len(spoken.text))
        return [str(spoken.locate(each.start, each.end)) for each in found]

    assert CUT in spoken.text
    assert [str(TimeSpan(1, 4, Modality.AUDIO))] == times("hold these truths")
    assert [str(TimeSpan(9, 17, Modality.AUDIO))] == times("topic runs on")
    assert [] == times("truths dear. Another topic")
    assert (0, len(spoken.text)) == spoken.span_of(TimeSpan(0, 20, Modality.AUDIO))


COSTLY = {
    "letters of a text of words": (
        "some words of an ordinary text about many things\n" * 4000,
        "b ... c ... d ... e ... f ... g",
    ),
    "equal letters": ("a " * 30_000, " ... ".join("a" * 16)),
    "letters in another case": ("a " * 30_000, "A " * 9000),
    "letters separated otherwise": ("a " * 30_000, "aa " * 4000),
    "omissions over qualifiers": ("a not b unless c, " * 5000, "a ... b"),
    "numbers that may be raised": ("x2 y " * 10_000, "x 2 y " * 45),
}


@pytest.mark.long
@pytest.mark.parametrize(("text", "quote"), representatives(COSTLY.values(), 3), ids=COSTLY)
def test_looking_for_a_quote_takes_a_bounded_amount_of_work(text: str, quote: str) -> None:
    source, effort = quotable(text), Effort()

    for pieces in ways_to_read(quote):
        for _ in matches(source, pieces, 0, len(source.text), effort):
            pass

    assert effort.left > -MOST  # the last comparison may exceed what was left


def test_a_rare_piece_is_found_behind_many_places_of_a_common_one() -> None:
    text = "the end of it. " * 400 + "the ship that sank"

    (match,) = found(text, "the ... ship ... sank")

    assert "the ship that sank" == text[match.start : match.end]


def test_an_omission_is_found_though_the_nearest_piece_leads_nowhere() -> None:
    text = "alpha " + "then " * 30 + "beta " + "word " * 30 + "beta gamma"

    assert found(text, "alpha then ... beta ... gamma")


def test_the_case_of_many_single_letters_is_compared() -> None:
    assert ("'A' for 'a'",) == meaningful_case("a " * 5000, "A " * 5000)


@pytest.mark.parametrize("quote", ["\u200b" * 19_000 + "\u0301 abc", '"a' + "\n" * 19_000 + '|b"'])
def test_a_long_run_of_blanks_is_one_space(quote: str) -> None:
    """Comparing takes time in proportion to the square of its length."""
    assert all(len(piece.text) < 10 for reading in ways_to_read(quote) for piece in reading)
