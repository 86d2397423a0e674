from __future__ import annotations

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.digest import Digest

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_digest_is_the_sha_256_of_the_bytes() -> None:
    assert str(Digest.of_bytes(b"")) == EMPTY
    assert ("e3", EMPTY[2:]) == Digest(EMPTY).fan_out


@given(st.binary(max_size=5000), st.integers(0, 10))
def test_a_stream_is_digested_from_where_it_stands(data: bytes, position: int) -> None:
    stream = io.BytesIO(data)
    stream.seek(position)

    assert hashlib.sha256(data[position:]).hexdigest() == Digest.of_stream(stream).hex


@pytest.mark.parametrize(
    "text", ["", "ab", EMPTY.upper(), EMPTY + "\n", EMPTY[:-1], EMPTY + "0", "g" * 64, "../" + EMPTY]
)
def test_only_sixty_four_lower_case_digits_are_a_digest(text: str) -> None:
    with pytest.raises(ValueError, match="must match"):
        Digest(text)
