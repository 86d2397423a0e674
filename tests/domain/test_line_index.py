from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.domain import line_index
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.line_index import index_lines
from citekit.domain.locations import Lines

ENCODINGS = {
    "utf-8": b"",
    "latin-1": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
TEXTS = st.text("ab\r\n\u010a\u0d00\u0a0d\u0a00é", max_size=40).filter(lambda text: not text.startswith("\0"))


def lines_by_hand(text: str) -> Iterator[str]:
    """The lines of a text, one character after another: slow and plain."""
    line = ""
    for index, character in enumerate(text):
        line += character
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            yield line
            line = ""
    if line:
        yield line


@given(TEXTS, st.sampled_from(sorted(ENCODINGS)), st.lists(st.integers(0, 9), max_size=40))
@example("a\r\nb", "utf-16-le", [7, 1, 1, 1])
@example("\r\r\n\n\r", "utf-8", [1, 1, 1, 1, 1])
@example("\n" * 9 + "aaaa", "utf-8", [5])
@example("\n\n\na\n\nb", "utf-8", [])
def test_lines_are_those_of_a_plain_reading_however_the_bytes_come(text: str, encoding: str, sizes: list[int]) -> None:
    mark = ENCODINGS[encoding]
    text = text.encode(encoding, "ignore").decode(encoding)
    data = mark + text.encode(encoding)

    index = index_lines(chunks(data, sizes))

    expected = [line.encode(encoding) for line in lines_by_hand(text)] or ([b""] if mark else [])
    if expected:
        expected[0] = mark + expected[0]
    found = [data[slice(*index.byte_range(Lines(number, number)))] for number in range(1, index.count + 1)]
    assert expected == found
    assert len(data) == index.size


def chunks(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    position = 0
    for size in sizes:
        yield data[position : position + size]
        position += size
    yield data[position:]


@given(st.lists(st.sampled_from(["one\n", "two\r\n", "\r", "four\n"]), min_size=1, max_size=20), st.data())
def test_a_range_of_lines_is_all_bytes_from_the_first_to_the_last(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts).encode()
    count = index_lines([whole]).count
    first = data.draw(st.integers(1, count))
    last = data.draw(st.integers(first, count))

    start, end = index_lines([whole]).byte_range(Lines(first, last))

    lines = list(lines_by_hand(whole.decode()))
    assert "".join(lines[first - 1 : last]).encode() == whole[start:end]


def test_a_line_beyond_the_end_is_refused() -> None:
    with pytest.raises(LocationOutside, match="Line 3 is beyond the end: the text has 2 lines"):
        index_lines([b"one\ntwo"]).byte_range(Lines(2, 3))


def test_a_text_of_absurdly_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_index, "LINES_LIMIT", 5)

    with pytest.raises(SourceUnsupported, match="more than 5 lines"):
        index_lines([b"\n" * 4, b"\n" * 4])


def test_lines_are_indexed_without_a_step_for_each() -> None:
    steps = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        dense, sparse = index_lines([b"\n" * 10_000]), index_lines([b"some words\n" * 10_000])
    finally:
        sys.setprofile(None)

    assert (10_000, 10_000) == (dense.count, sparse.count)
    assert steps < 200


def test_no_bytes_are_no_lines() -> None:
    assert index_lines([]).count == 0
    assert index_lines([b"", b""]).count == 0
