"""Code that embedders for remote services share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from citekit.adapters.search.embedders.texts import pieces, plain, spread
from citekit.adapters.search.embedders.vectors import blank, mean
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import Vector
from citekit.domain.numbers import real
from citekit.domain.progress import Progress

Ask = Callable[[Sequence[str], Progress], Sequence[Sequence[float]]]
"""A function that sends the texts of one request and returns a vector for each text, in order."""


@frozen(kw_only=True)
class Limits:
    """The limits of one request (the number of `texts` and their total size in bytes) and of one text (in bytes).

    The sizes also limit the number of tokens, because a token is at least one byte of UTF-8, whatever the tokenizer.
    """

    texts: int
    request_bytes: int
    text_bytes: int


def trimmed(key: str | None) -> str | None:
    """Return an API key without surrounding white space; None if nothing remains."""
    return (key or "").strip() or None


def embedded(
    texts: Sequence[str], limits: Limits, dimensions: Callable[[], int], ask: Ask, progress: Progress, whose: str
) -> list[Vector]:
    """Return a unit vector for each text, with requests that `ask` sends.

    Texts that are too long are split, and the vectors of up to `PIECES` segments are averaged. Blank texts are not
    sent; `dimensions` returns the length of their vectors. Raise the errors of `ask`, or `EmbedderUnavailable` if a
    reply is not valid. `whose` names the service in messages.
    """
    split = [list(spread(pieces(plain(text), limits.text_bytes))) if text.strip() else [] for text in texts]
    flat = [piece if piece.strip() else "-" for each in split for piece in each]
    vectors = iter(_asked(flat, limits, ask, progress, whose))
    return [
        mean([next(vectors) for _ in each], [len(piece) for piece in each], whose) if each else blank(dimensions())
        for each in split
    ]


def _asked(texts: Sequence[str], limits: Limits, ask: Ask, progress: Progress, whose: str) -> list[Sequence[float]]:
    found: list[Sequence[float]] = []
    for batch in _batches(texts, limits):
        progress(len(found), len(texts), f"embedding with {whose}")
        found += _checked(ask(batch, progress), len(batch), whose)
    if len({len(vector) for vector in found}) > 1:
        raise EmbedderUnavailable(f"{whose} returned vectors of different lengths. Check the model and its server.")
    progress(len(texts), len(texts), f"embedding with {whose}")
    return found


def _batches(texts: Sequence[str], limits: Limits) -> Iterator[Sequence[str]]:
    start = size = 0
    for number, text in enumerate(texts):
        more = len(text.encode())
        if number > start and (number - start >= limits.texts or size + more > limits.request_bytes):
            yield texts[start:number]
            start, size = number, 0
        size += more
    if start < len(texts):
        yield texts[start:]


def _checked(vectors: Sequence[Sequence[float]], count: int, whose: str) -> Sequence[Sequence[float]]:
    if len(vectors) != count:
        raise EmbedderUnavailable(
            f"{whose} returned the wrong number of vectors: {len(vectors)} instead of {count}. Check the model."
        )
    for vector in vectors:
        if not vector:
            raise EmbedderUnavailable(f"{whose} returned an empty vector. Check the model.")
        if not all(isinstance(value, int | float) and math.isfinite(real(value)) for value in vector):
            raise EmbedderUnavailable(
                f"{whose} returned a vector with values that are not finite numbers. Check the model."
            )
        if not any(vector):
            raise EmbedderUnavailable(f"{whose} returned a vector that contains only zeros. Check the model.")
    return vectors


def as_long_as(vectors: Sequence[Sequence[float]], dimensions: int | None, whose: str) -> Sequence[Sequence[float]]:
    """Return `vectors` if each of them has the length `dimensions` (None: any length).

    Otherwise, raise `EmbedderUnavailable`, which names the service `whose`.
    """
    wrong = next((len(vector) for vector in vectors if dimensions is not None and len(vector) != dimensions), None)
    if wrong is not None:
        raise EmbedderUnavailable(
            f"{whose} returned a vector with {wrong} dimensions instead of {dimensions}. Check the model."
        )
    return vectors
