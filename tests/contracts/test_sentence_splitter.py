"""What every SentenceSplitter promises."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.search.sentence_splitters import BLOCK, SentencexSplitter
from citekit.domain.library.languages import two_letters
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from tests.doubles.sentence_splitter import RegularExpressionSplitter

SPLITTERS: list[SentenceSplitter] = [SentencexSplitter(), RegularExpressionSplitter()]
every = pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda splitter: type(splitter).__name__)

TEXTS = st.text("aB .!?\"'…\n\r\t。「」।؟😀é\u2029", max_size=120) | st.text(max_size=80)
LANGUAGES = st.sampled_from([None, "en", "deu", "ja", "zho", "hi", "ar", "xx", "pt-BR", "", "?"])


def split(splitter: SentenceSplitter, text: str, language: str | None = None) -> list[str]:
    """The sentences, without the white space around them."""
    return [piece.strip() for piece in raw(splitter, text, language)]


def raw(splitter: SentenceSplitter, text: str, language: str | None = None) -> list[str]:
    starts: Sequence[int] = splitter.starts(text, language)
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@every
@given(text=TEXTS, language=LANGUAGES)
def test_every_character_is_in_exactly_one_sentence(splitter: SentenceSplitter, text: str, language: str) -> None:
    starts = list(splitter.starts(text, language))

    assert [0] * bool(text) == starts[:1]
    assert sorted(set(starts)) == starts
    assert all(0 <= start < len(text) for start in starts)


@every
@given(text=TEXTS)
def test_a_sentence_does_not_begin_with_white_space(splitter: SentenceSplitter, text: str) -> None:
    assert not any(text[start].isspace() for start in splitter.starts(text)[1:])


@every
@given(pieces=st.lists(st.text("aB .!?\"'。", min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=6))
def test_a_blank_line_always_ends_a_sentence(splitter: SentenceSplitter, pieces: list[str]) -> None:
    text = "\n \n".join(piece.strip() for piece in pieces)

    begins, position = set(), 0
    for piece in pieces:
        begins.add(position)
        position += len(piece.strip()) + 3

    assert begins <= set(splitter.starts(text))


@every
def test_an_empty_text_has_no_sentence(splitter: SentenceSplitter) -> None:
    assert [] == list(splitter.starts(""))


@every
def test_white_space_alone_is_one_sentence(splitter: SentenceSplitter) -> None:
    assert [0] == list(splitter.starts(" \n\n\n "))


@every
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\n \t\n\n", "\r\r", "\u2029"])
def test_every_way_to_write_a_blank_line_ends_a_sentence(splitter: SentenceSplitter, end: str) -> None:
    assert ["no full stop" + end, "but another"] == raw(splitter, f"no full stop{end}but another")


@every
def test_two_sentences_are_told_apart(splitter: SentenceSplitter) -> None:
    text = "Call me Ishmael. Some years ago I went to sea!  Why not?\nI had no money.\tNone."

    assert [
        "Call me Ishmael. ",
        "Some years ago I went to sea!  ",
        "Why not?\n",
        "I had no money.\t",
        "None.",
    ] == raw(splitter, text)


@every
def test_offsets_are_characters_also_where_they_take_several_bytes(splitter: SentenceSplitter) -> None:
    assert ["😀 Ümlaut 𝔘 here. ", "Second 😀. ", "Third."] == raw(splitter, "😀 Ümlaut 𝔘 here. Second 😀. Third.")


@every
@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("zh", "我是学生。你好吗？很好！", ["我是学生。", "你好吗？", "很好！"]),
        ("jpn", "吾輩は猫である。名前はまだ無い。", ["吾輩は猫である。", "名前はまだ無い。"]),
        ("ar", "مرحبا. كيف حالك؟ أنا بخير.", ["مرحبا.", "كيف حالك؟", "أنا بخير."]),
        ("hin", "यह एक वाक्य है। यह दूसरा है॥ अच्छा।", ["यह एक वाक्य है।", "यह दूसरा है॥", "अच्छा।"]),
    ],
)
def test_the_marks_of_other_scripts_end_sentences(
    splitter: SentenceSplitter, language: str, text: str, sentences: list[str]
) -> None:
    assert sentences == split(splitter, text, language)


@pytest.mark.long
@every
def test_a_text_of_ten_megabytes_is_covered(splitter: SentenceSplitter) -> None:
    text = "It was the best of times, it was the worst of times. " * 190_000

    starts = splitter.starts(text)

    assert list(range(0, len(text), 53)) == list(starts)


@pytest.mark.long
@every
@pytest.mark.parametrize(
    "text",
    [
        "word " * 500_000,
        "x" * 2_000_000,
        "." * 500_000,
        '"' * 200_000,
        "(" * 200_000,
        "\n" * 1_000_000,
        "a.\n" * 300_000,
    ],
    ids=["no full stop", "one word", "dots", "quotes", "brackets", "line feeds", "lines"],
)
def test_hostile_texts_are_covered(splitter: SentenceSplitter, text: str) -> None:
    starts = list(splitter.starts(text))

    assert (0, sorted(set(starts))) == (starts[0], starts)


@every
def test_several_threads_at_once_get_what_one_gets(splitter: SentenceSplitter) -> None:
    texts = [f"Sentence {number}. Another one. " * 50 for number in range(40)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(splitter.starts, texts))

    assert [list(splitter.starts(text)) for text in texts] == [list(starts) for starts in found]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dr. Smith met Mr. J. R. R. Tolkien at 5 p.m. on Jan. 5.", "He paid 3.50 dollars, e.g. for Fig. 3."]),
        ("eng", ["It was version 1.2.3 of foo.bar, i.e. the last.", "See www.example.com for more."]),
        (None, ['"Come here!" she said.', '"No," he said.', "Well.", "It was... odd.", "He left."]),
        ("en", ["This has no space behind its full stop.", "But it ends."]),
        ("deu", ["Das ist z.B. gut.", "Am 5. Mai kam Dr. Müller.", "Er ging."]),
        ("ger", ["Das ist z.B. gut.", "Er ging."]),
        ("tlh", ["Dr. Smith came.", "He went."]),
        ("xx-unknown", ["Dr. Smith came.", "He went."]),
    ],
)
def test_sentencex_knows_abbreviations(language: str | None, sentences: list[str]) -> None:
    assert sentences == split(SentencexSplitter(), " ".join(sentences), language)


def test_sentencex_finds_the_end_of_a_sentence_that_no_space_follows() -> None:
    assert ["This is one.", "This is two."] == split(SentencexSplitter(), "This is one.This is two.")


def test_sentencex_takes_the_items_of_a_numbered_list_apart() -> None:
    text = "1. First item\n2. Second item\n3. Third item"

    assert ["1. First item", "2. Second item", "3. Third item"] == split(SentencexSplitter(), text)


def test_the_lines_of_a_verse_are_one_sentence_where_the_verse_says_so() -> None:
    verse = "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\nRough winds do shake."

    assert ["Shall I compare thee to a summer's day?", verse.partition("\n")[2]] == split(SentencexSplitter(), verse)


def test_unpaired_surrogates_do_no_harm() -> None:
    assert ["a\ud800b. ", "Cd."] == raw(SentencexSplitter(), "a\ud800b. Cd.")


@pytest.mark.parametrize("shift", [0, 1, 7, 26, 52])
def test_sentences_are_the_same_wherever_a_block_ends(shift: int) -> None:
    text = "x" * shift + " " + "It was the best of times, it was the worst of times. " * (3 * BLOCK // 53)

    starts = SentencexSplitter().starts(text)

    assert [53] * (len(starts) - 2) == [end - start for start, end in pairwise(starts[1:])]


@pytest.mark.parametrize(
    ("given_code", "short"),
    [
        ("eng", "en"),
        ("deu", "de"),
        ("ger", "de"),
        ("fra", "fr"),
        ("zho", "zh"),
        ("cmn", "zh"),
        ("hrv", "hr"),
        ("EN", "en"),
        ("pt-BR", "pt"),
        ("zh_Hans", "zh"),
        ("haw", "haw"),
        ("", ""),
    ],
)
def test_a_language_has_one_name(given_code: str, short: str) -> None:
    assert short == two_letters(given_code)
