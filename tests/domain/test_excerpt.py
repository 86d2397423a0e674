"""Excerpts of texts around a passage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.excerpt import CUT, excerpt

TEXT = "Bees live in hives. The queen lays eggs! Who eats honey?\nIn winter, bees eat honey.\nRow | 1 | 2\nThe end."


def test_whole_sentences_and_rows_are_added_around_the_passage() -> None:
    assert f"{CUT} In winter, bees eat honey. {CUT}" == excerpt(TEXT, "In winter, bees eat honey.", 30)
    assert f"{CUT} Who eats honey?\nIn winter, bees eat honey.\nRow | 1 | 2 {CUT}" == excerpt(TEXT, "winter", 60)
    assert f"Bees live in hives. {CUT}" == excerpt(TEXT, "not there", 25)
    assert f"Bees live {CUT}" == excerpt(TEXT, "Bees live in hives.", 10)
    assert TEXT == excerpt(TEXT, "", len(TEXT))
    assert f"{CUT} 冬は蜜を食べる。 {CUT}" == excerpt("蜂は巣に住む。冬は蜜を食べる。夏は働く。", "蜜を食べる", 9)


@given(st.text("ab. \n!", max_size=80), st.data(), st.integers(1, 60))
def test_an_excerpt_is_a_piece_of_the_text_with_the_passage_and_within_the_limit(
    text: str, data: st.DataObject, limit: int
) -> None:
    start = data.draw(st.integers(0, len(text)))
    passage = text[start : data.draw(st.integers(start, len(text)))]

    found = excerpt(text, passage, limit)

    if len(text) <= limit:
        assert text == found
        return
    piece = found.removeprefix(f"{CUT} ").removesuffix(f" {CUT}")
    assert piece in text
    assert len(piece) <= limit
    assert len(passage) > limit or passage.strip() in piece
