"""Laws of the scale that thresholds of chunking are on."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.similarity import FEW, MIDDLE, adjacent, on_one_scale

cosines = st.floats(-1, 1)


def test_neighbours_are_compared_pair_by_pair() -> None:
    compared = adjacent([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])

    assert pytest.approx([0.6, 0.8]) == compared


@given(st.lists(cosines))
def test_every_similarity_is_from_0_to_1_and_the_order_stays(similarities: list[float]) -> None:
    scaled = on_one_scale(similarities)

    assert len(similarities) == len(scaled)
    assert all(0 <= each <= 1 for each in scaled)
    pairs = sorted(zip(similarities, scaled, strict=True))
    assert [later for _, later in pairs] == sorted(scaled)


@given(st.lists(cosines, min_size=FEW).filter(lambda values: max(values) - min(values) > 0.1))
def test_the_median_comes_to_the_middle(similarities: list[float]) -> None:
    scaled = on_one_scale(similarities)

    assert MIDDLE == pytest.approx(median(scaled), abs=0.02) or len(set(scaled)) < FEW


@given(st.lists(st.floats(-0.4, 0.4), min_size=FEW), st.floats(0.1, 2.0), st.floats(-0.2, 0.2))
def test_another_model_whose_cosines_lie_elsewhere_gives_the_same_scale(
    similarities: list[float], slope: float, offset: float
) -> None:
    elsewhere = [slope * each + offset for each in similarities]
    if max(similarities) - min(similarities) < 0.1 or _narrow(similarities) or _narrow(elsewhere):
        return

    assert pytest.approx(on_one_scale(similarities), abs=1e-6) == on_one_scale(elsewhere)


def _narrow(values: list[float]) -> bool:
    """Whether the lowest tenth and the median lie so near that the scale takes a spread of its own."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] - ordered[len(ordered) // 10] < 0.01
