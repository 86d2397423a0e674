"""Laws of what stands around a chunk."""

from __future__ import annotations

from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from citekit.application.library.ask import surroundings


@frozen
class Piece:
    text: str
    sequence: int


families = st.lists(st.text("ab ", min_size=1, max_size=30), min_size=1, max_size=12).map(
    lambda texts: [Piece(text, number) for number, text in enumerate(texts)]
)


@given(families, st.integers(0, 11), st.integers(0, 200))
def test_the_chunk_is_always_there_and_the_rest_fits_the_room(family: list[Piece], place: int, room: int) -> None:
    piece = family[place % len(family)]

    text, truncated = surroundings(family, piece.sequence, room)

    assert piece.text in text
    assert len(text) <= max(room, len(piece.text))
    assert text in "\n".join(each.text for each in family)
    assert truncated == (text != "\n".join(each.text for each in family))


@given(families, st.integers(0, 11))
def test_with_room_enough_the_chapter_is_whole(family: list[Piece], place: int) -> None:
    whole = "\n".join(each.text for each in family)

    assert (whole, False) == surroundings(family, place % len(family), len(whole))


def test_neighbours_are_taken_in_turn() -> None:
    family = [Piece(letter * 3, number) for number, letter in enumerate("abcde")]

    assert ("bbb\nccc\nddd", True) == surroundings(family, 2, 11)


def test_no_chapter_has_no_text() -> None:
    assert ("", False) == surroundings([], 0, 100)
