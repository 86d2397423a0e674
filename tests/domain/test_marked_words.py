"""The words that a viewer marks are those of the quote, or none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.quotes.marked_words import OCCURRENCES, WordRange, marked_words
from citekit.domain.quotes.normal_form import letters_of

WORDS = st.lists(st.text("abcdeé1 -.,", min_size=1, max_size=8).filter(lambda word: word.strip() == word), max_size=40)


def letters(pages: list[list[str]], found: list[WordRange]) -> str:
    return "".join(letters_of(word) for each in found for word in pages[each.page][each.first : each.last + 1])


@given(WORDS, st.data())
def test_words_of_a_page_are_found_among_its_occurrences(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    quote = " ".join(words[start:end])
    found = marked_words(quote, [words])
    if not letters_of(quote):
        assert not found
        return
    spans = [letters([words], [each]) for each in found]
    assert all(letters_of(quote) in span for span in spans)
    assert found or not letters_of(quote)


@given(st.lists(WORDS, min_size=1, max_size=3), st.text("abcdeé1 -.,", max_size=30))
def test_what_is_marked_has_every_letter_of_the_quote(pages: list[list[str]], quote: str) -> None:
    found = marked_words(quote, pages)
    if found:
        assert len(letters_of(quote)) <= len(letters(pages, found))
        assert set(letters_of(quote)) <= set(letters(pages, found))


def test_a_quote_over_two_pages_is_marked_on_both_without_the_header_between_them() -> None:
    first = ["the", "report", "says", "that", "net", "sales", "grew"]
    second = ["Annual", "report", "12", "by", "five", "percent", "in", "the", "year"]
    found = marked_words("net sales grew by five percent in the year", [first, second])
    assert [WordRange(0, 4, 6), WordRange(1, 3, 8)] == found


def test_words_with_other_words_between_them_are_not_marked() -> None:
    page = ["net", "sales", "did", "not", "grow", "by", "five", "percent"]
    assert [] == marked_words("net sales grow by five", [page])
    assert [] == marked_words("net sales fell", [page])
    assert [] == marked_words("", [page])
    assert [] == marked_words("net sales", [])


def test_a_word_split_at_the_end_of_a_line_and_a_superscript_are_found() -> None:
    page = ["The", "evi-", "dence", "of", "Pan1,2", "holds."]
    assert [WordRange(0, 1, 2)] == marked_words("evidence", [page])
    assert [WordRange(0, 3, 5)] == marked_words("of Pan¹⸴² holds", [page])


def test_many_occurrences_are_bounded() -> None:
    assert OCCURRENCES == len(marked_words("word", [["word"] * 500]))
