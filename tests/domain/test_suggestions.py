"""Names that somebody may have meant."""

from __future__ import annotations

from citekit.domain.suggestions import COMPARED_NAMES, nearest_names


def test_the_nearest_comes_first() -> None:
    assert ["chapter_1", "chapter_12"] == nearest_names("chapter_1_", ["intro", "chapter_12", "chapter_1"])


def test_nothing_near_is_nothing() -> None:
    assert [] == nearest_names("zzz", ["intro", "chapter_1"])


def test_of_very_many_those_that_begin_alike_are_compared() -> None:
    alike = [f"chapter_{number:05d}" for number in range(COMPARED_NAMES)]
    names = ["xhapter_99999", *alike]

    few, many = nearest_names("chapter_99999", names[:100]), nearest_names("chapter_99999", names)

    assert ("xhapter_99999", False) == (few[0], "xhapter_99999" in many)


def test_the_nearest_of_very_many_is_found() -> None:
    names = [f"chapter_{number}.section_{part}" for number in range(500) for part in range(20)]

    assert "chapter_321.section_7" == nearest_names("chapter_321.sectoin_7", names)[0]
