"""Trees out of pairs that may be wrong."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.importers.tree_building import DEPTH_LIMIT, parents_of

NAMES = st.integers(0, 120).map(str)


def depth(part: str, parents: dict[str, str]) -> int:
    """Levels down to a part; fails on a circle."""
    level = 1
    while part in parents:
        part, level = parents[part], level + 1
        assert level <= 10_000
    return level


@given(told=st.lists(st.tuples(NAMES, NAMES), max_size=300), known=st.sets(NAMES))
def test_any_pairs_make_a_tree_of_bounded_depth(told: list[tuple[str, str]], known: set[str]) -> None:
    parents = parents_of(told, known)

    assert set(parents) | set(parents.values()) <= known
    assert all(depth(part, parents) <= DEPTH_LIMIT for part in known)


@given(sizes=st.lists(st.integers(0, 10**6), max_size=200), order=st.randoms(use_true_random=False))
def test_a_tree_within_the_depth_limit_is_unchanged_in_any_order(sizes: list[int], order: object) -> None:
    told, depths = [], {0: 1}
    for part, size in enumerate(sizes, 1):
        parent = size % part
        parent = parent if depths[parent] < DEPTH_LIMIT else 0
        depths[part] = depths[parent] + 1
        told.append((str(part), str(parent)))
    shuffled = list(told)
    order.shuffle(shuffled)  # type: ignore[attr-defined]

    assert dict(told) == parents_of(shuffled, {str(part) for part in depths})


def test_parts_below_the_last_level_move_to_it() -> None:
    told = [(str(n), str(n - 1)) for n in range(1, 100)]

    parents = parents_of(reversed(told), {str(n) for n in range(100)})

    assert {str(DEPTH_LIMIT - 2)} == {parents[str(n)] for n in range(DEPTH_LIMIT - 1, 100)}
