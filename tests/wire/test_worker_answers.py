"""Answers of workers that are not valid: the user is told what to do, and nothing about the inside of Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citekit.domain.errors import FaultyAnswer
from citekit.wire import worker_protocol as protocol


@pytest.mark.parametrize(
    ("read", "data", "what"),
    [
        (protocol.picture_from, {"media_type": "image/png", "data": "?"}, "the picture"),
        (protocol.picture_from, None, "the picture"),
        (protocol.page_words_from, [["word", [0, 0, 1], 0]], "the list of words"),
        (protocol.page_sizes_from, [[1]], "the list of page sizes"),
        (protocol.sheet_rows_from, [[1, [["x", "a"]]]], "the list of rows"),
        (protocol.book_from, {"chapters": 1}, "its data"),
    ],
)
def test_an_invalid_answer_is_one_sentence_with_advice(
    read: Callable[[object], object], data: object, what: str
) -> None:
    with pytest.raises(FaultyAnswer) as raised:
        read(data)

    advice = "Try again; if this happens again, the file may be damaged."
    assert f"The answer of the worker process is not valid: {what} is malformed. {advice}" == str(raised.value)
