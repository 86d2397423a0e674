"""Names that somebody may have meant."""

from __future__ import annotations

from citekit.domain.suggestions import COMPARED_NAMES, name_meant, nearest_names


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


def test_a_file_name_or_another_spelling_means_the_one_name_that_has_the_same_letters() -> None:
    names = ["ntsb-20080123x00097", "openrisc-arch-1_3-rev1", "sample_c", "sample_py", "état"]
    for wanted, meant in (
        ("ntsb-20080123X00097.pdf", "ntsb-20080123x00097"),
        ("OpenRISC arch 1.3 rev1", "openrisc-arch-1_3-rev1"),
        ("sample.c", "sample_c"),
        ("État.docx", "état"),
        ("sample", None),  # of two files
        ("sampl_c", None),
        ("...", None),
    ):
        assert meant == name_meant(wanted, names)


def test_names_that_differ_only_in_their_separators_are_not_guessed() -> None:
    assert name_meant("a b", ["a-b", "a_b"]) is None
    assert name_meant("a.pdf", ["a", "a_pdf"]) == "a_pdf"  # the closer spelling
