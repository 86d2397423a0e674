from __future__ import annotations

import codecs
import sys
from types import FrameType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.domain import line_index
from citekit.domain.errors import LocationOutside
from citekit.domain.line_index import LineMarks, Read, index_lines
from citekit.domain.locations import Lines

MARKS = (b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def reading(data: bytes, asked: list[tuple[int, int]] | None = None) -> Read:
    def read(offset: int, size: int, *, counting: bool) -> bytes:
        if asked is not None and counting:
            asked.append((offset, size))
        return data[offset : offset + size]

    return read


def outcome(index: object, lines: Lines, *more: Read) -> tuple[int, int] | str:
    try:
        return index.byte_range(lines, *more)  # type: ignore[attr-defined, no-any-return]
    except LocationOutside as error:
        return str(error)


pieces = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"a", b"bc", b"\0", b"\n\0", b"\0\n", b"\r\0\n\0", b"\0\r\0\n", b"\n\n\0\0"]
)


@given(st.sampled_from(MARKS), st.lists(pieces, max_size=60).map(b"".join), st.integers(4, 20), st.data())
@example(b"", b"\r" * 30, 4, None)
@example(codecs.BOM_UTF16_LE, b"\r\0\n\0" * 9 + b"\r", 5, None)
def test_marks_tell_the_same_lines_as_an_index(
    mark: bytes, body: bytes, block: int, data: st.DataObject | None
) -> None:
    whole = mark + body
    index, marks = index_lines([whole]), LineMarks()
    count = index.count
    wanted = [(n, n) for n in range(1, count + 3)] if data is None else data.draw(spans(count))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_index, "_FIRST_BLOCK", block)
        patch.setattr(line_index, "_BLOCK", block * 2)
        found = [outcome(marks, Lines(first, last), reading(whole)) for first, last in wanted]

    assert [outcome(index, Lines(first, last)) for first, last in wanted] == found


def spans(count: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    one = st.tuples(st.integers(1, count + 2), st.integers(1, count + 2)).map(lambda pair: (min(pair), max(pair)))
    return st.lists(one, min_size=1, max_size=5)


def test_a_text_is_read_no_further_than_the_lines_that_are_asked_for() -> None:
    data = b"1234567\n" * 100_000
    marks = LineMarks()
    asked: list[tuple[int, int]] = []

    first = marks.byte_range(Lines(1, 40), reading(data, asked))
    begun = list(asked)
    marks.byte_range(Lines(50_000, 50_001), reading(data, asked))
    middle = list(asked)
    again = marks.byte_range(Lines(30_000, 30_000), reading(data, asked))

    assert (0, 320) == first
    assert [(0, 8192)] == begun
    assert max(offset for offset, _ in middle) < 401_000
    assert (239_992, 240_000) == again
    assert middle == asked


def test_a_line_of_megabytes_takes_no_more_than_others() -> None:
    data = b"x" * 3_000_000 + b"\n" + b"last"
    marks = LineMarks()

    assert (3_000_001, 3_000_005) == marks.byte_range(Lines(2, 2), reading(data))
    assert marks.weight < 1000


def test_lines_are_counted_without_a_step_for_each() -> None:
    steps = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal steps
        steps += 1

    marks, read = LineMarks(), reading(b"some words\n" * 100_000)
    sys.setprofile(count)
    try:
        marks.byte_range(Lines(99_000, 100_000), read)
    finally:
        sys.setprofile(None)

    assert steps < 1000
