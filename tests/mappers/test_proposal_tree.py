"""Parents hold their children: widened where that is plain, else the child is at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.codec_pages_lines import LineCodec, PageCodec
from citekit.adapters.mappers.llm.codec_time_image import BoxCodec, TimeCodec
from citekit.adapters.mappers.llm.location_codec import LocationCodec, contains
from citekit.adapters.mappers.llm.pdf_titles import folded_heading
from citekit.adapters.mappers.llm.proposal_tree import Branch, build_tree
from citekit.adapters.mappers.llm.proposals import ProposedNode
from citekit.adapters.mappers.llm.snapping import symbol_name
from citekit.adapters.mappers.llm.title_words import folded
from citekit.domain.errors import LocationMalformed
from citekit.domain.modality import Modality
from tests.doubles.model_service import ScriptedService
from tests.mappers.model_talks import model_mapper, nodes, prompt_text, rows_of, source_of, write_pdf

Row = tuple[Any, ...]


def claims(*rows: Row) -> list[ProposedNode]:
    """Claims of rows (level, title, *place)."""
    return [
        ProposedNode(f"nodes[{n}]", level, title, "section", None, tuple(location))
        for n, (level, title, *location) in enumerate(rows)
    ]


def settled(codec: LocationCodec, *rows: Row) -> tuple[list[Row], list[str], int]:
    branches, faults, widened = build_tree(claims(*rows), codec)
    return [row for branch in branches for row in rows_in(branch, 1)], [fault.title for fault in faults], widened


def rows_in(branch: Branch, level: int) -> list[Row]:
    below = [row for child in branch.children for row in rows_in(child, level + 1)]
    return [(level, branch.proposal.title, *branch.span), *below]


def test_a_parent_is_widened_to_children_that_follow_one_another() -> None:
    rows, faults, widened = settled(
        PageCodec(50), (1, "A", 10, 12), (2, "a", 10, 11), (2, "b", 12, 14), (2, "c", 15, 17), (1, "B", 18, 20)
    )

    assert (1, "A", 10, 17) == rows[0]
    assert ([], 1) == (faults, widened)


def test_a_parent_is_not_widened_over_its_neighbour() -> None:
    rows, faults, widened = settled(
        PageCodec(50), (1, "A", 10, 12), (2, "a", 10, 11), (2, "b", 12, 25), (1, "B", 13, 20)
    )

    assert [(1, "A", 10, 12), (2, "a", 10, 11), (1, "B", 13, 20)] == rows
    assert (["b"], 0) == (faults, widened)


def test_a_child_far_from_the_others_is_at_fault() -> None:
    rows, faults, _ = settled(PageCodec(90), (1, "A", 10, 20), (2, "a", 10, 12), (2, "b", 70, 71))

    assert [(1, "A", 10, 20), (2, "a", 10, 12)] == rows
    assert ["b"] == faults


def test_what_is_below_a_child_at_fault_stays_where_the_parent_holds_it() -> None:
    rows, faults, _ = settled(
        PageCodec(90),
        *((1, "A", 10, 20), (2, "a", 11, 12), (2, "b", 15, 41), (3, "c", 15, 16), (3, "d", 40, 41), (1, "B", 21, 45)),
    )

    assert [(1, "A", 10, 20), (2, "a", 11, 12), (2, "c", 15, 16), (1, "B", 21, 45)] == rows
    assert ["b", "d"] == faults


def test_a_child_that_exceeds_its_parent_by_under_a_second_is_clipped() -> None:
    rows, faults, widened = settled(
        TimeCodec(100, Modality.VIDEO), (1, "A", 0, 10), (2, "a", 5, 10.6), (3, "b", 9, 10.5), (1, "B", 10, 20)
    )

    assert [(1, "A", 0, 10), (2, "a", 5, 10), (3, "b", 9, 10), (1, "B", 10, 20)] == rows
    assert ([], 0) == (faults, widened)


def test_siblings_that_begin_on_one_page_keep_their_order() -> None:
    rows, _, _ = settled(PageCodec(9), (1, "First", 5, 5), (1, "Second", 5, 7), (1, "Before", 1, 5))

    assert ["Before", "First", "Second"] == [row[1] for row in rows]


def test_a_box_is_widened_to_the_boxes_in_it_that_it_touches() -> None:
    rows, faults, _ = settled(
        BoxCodec(), (1, "A", 0.1, 0.1, 0.5, 0.5), (2, "a", 0.3, 0.3, 0.7, 0.4), (1, "B", 0.0, 0.0, 0.2, 0.2)
    )

    assert (1, "A", 0.1, 0.1, 0.7, 0.5) == rows[0]
    assert [] == faults


SPANS = st.tuples(st.integers(1, 30), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(st.integers(1, 5), SPANS), max_size=14))
def test_every_parent_holds_its_children_and_nothing_gets_lost(told_rows: list[tuple[int, tuple[int, int]]]) -> None:
    given_claims = claims(*((level, str(n), *location) for n, (level, location) in enumerate(told_rows)))

    branches, faults, _ = build_tree(given_claims, LineCodec(50))

    kept = [each for branch in branches for each in branch.walk()]
    assert all(contains(each.span, child.span) for each in kept for child in each.children)
    assert sorted(map(str, range(len(told_rows)))) == sorted(
        [each.proposal.title for each in kept] + [fault.title for fault in faults]
    )


class TestTitles:
    def test_ligatures_hyphens_case_and_numbers_do_not_matter(self) -> None:
        assert folded_heading("3.2 The Eﬃcient Work\u00adflow") == folded_heading("the efficient work-flow")
        assert folded("Straße") == folded("STRASSE")

    @pytest.mark.parametrize("title", ["Chapter 4", "IV", "A", "2.1"])
    def test_a_title_that_is_only_a_number_keeps_it(self, title: str) -> None:
        assert folded_heading(title)

    def test_a_title_that_heads_another_page_is_sent_back_with_that_page(self, tmp_path: Path) -> None:
        heads = ["Contents", "Opening moves", "Middle game", "Pawn structure", "Endings"]
        pages = [f"{head}\nText that goes on and on here.\nSee also other parts." for head in heads for _ in (1, 2, 3)]
        path = write_pdf(
            tmp_path / "chess.pdf", [page.replace(page.partition("\n")[0], "", n % 3) for n, page in enumerate(pages)]
        )
        wrong = nodes(
            (1, "Opening moves", 4, 6), (1, "Middle game", 7, 9), (1, "Endings", 2, 3), (1, "Pawn structure", 10, 12)
        )
        service = ScriptedService([wrong, nodes((1, "Endings", 13, 15))])

        made = model_mapper(service).map(source_of(path), "x")

        assert (
            "nodes[2].first_page: the part does not begin on page 2; its title is a heading on page 13"
            in prompt_text(service.questions[1])
        )
        assert ["Opening moves", "Middle game", "Pawn structure", "Endings"] == [node.title for node in made.nodes]

    def test_a_table_of_contents_is_not_the_location_of_its_titles(self, tmp_path: Path) -> None:
        heads = ["Opening moves", "Middle game", "Pawn structure", "Endings", "Openings index", "Famous games"]
        contents = "Contents\n" + "\n".join(heads)
        path = write_pdf(tmp_path / "chess.pdf", [contents, *(f"{head}\nText of this chapter." for head in heads)])
        wrong = nodes(*((1, head, 1 if head == "Famous games" else n, n) for n, head in enumerate(heads, 2)))
        service = ScriptedService([wrong, nodes((1, "Famous games", 7, 7))])

        made = model_mapper(service).map(source_of(path), "x")

        assert (
            "nodes[5].first_page: the part does not begin on page 1; its title is a heading on page 7"
            in prompt_text(service.questions[1])
        )
        assert [(1, head, (n, n)) for n, head in enumerate(heads, 2)] == rows_of(made)

    def test_a_title_that_is_found_nowhere_is_left_out_and_counted(self, tmp_path: Path) -> None:
        path = write_pdf(tmp_path / "a.pdf", ["Alpha\nLong enough text here.", "Beta\nLong enough text here."])

        made = model_mapper([nodes((1, "Alpha", 1, 1), (1, "An idea without a heading", 2, 2))]).map(
            source_of(path), "x"
        )

        assert ["Alpha"] == [node.title for node in made.nodes]
        assert "located them: 1 of 2." in made.metadata["notes"][-1]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("PDDocument.addPage(PDPage page)", "addpage"),
        ("async def add(self, book)", "add"),
        ("class Shelf", "shelf"),
        ("`main`", "main"),
        ("Shelf::add", "add"),
        ("2.1 Usage", "21usage"),
        ("How to install (Linux)", "howtoinstalllinux"),
    ],
)
def test_a_title_of_code_names_the_definition(title: str, name: str) -> None:
    assert name == symbol_name(title)


@pytest.mark.parametrize(
    ("codec", "record", "location"),
    [
        (PageCodec(9), {"pages": "3, 5-7"}, (3, 7)),
        (PageCodec(9), {"page": 4}, (4, 4)),
        (PageCodec(9), {"first_page": "2", "last_page": 3.0}, (2, 3)),
        (LineCodec(9), {"lines": [2, 5]}, (2, 5)),
        (LineCodec(9), {"lines": "2-5"}, (2, 5)),
        (TimeCodec(9, Modality.AUDIO), {"start": "1:02:03.5", "end": "3724"}, (3723.5, 3724)),
        (TimeCodec(9, Modality.AUDIO), {"start": 2}, (2, 9)),
        (BoxCodec(), {"box_2d": [0, 250, 500, 1000]}, (0.25, 0.0, 1.0, 0.5)),
        (BoxCodec(thousandths=True), {"bbox": [0, 0.25, 0.5, 1]}, (0, 0.25, 0.5, 1)),
        (ParagraphCodec([[(0, 3), (5, 9)], [(0, 4)]]), {"chapter": [1, 2]}, (1, 3)),
        (ParagraphCodec([[(0, 3), (5, 9)], [(0, 4)]]), {"chapter": 1, "chars": [4, 8]}, (2, 2)),
    ],
)
def test_locations_are_parsed_in_the_forms_that_models_write(
    codec: LocationCodec, record: dict[str, Any], location: Any
) -> None:
    assert location == codec.parse(record)


@pytest.mark.parametrize(
    ("codec", "record", "reason"),
    [
        (PageCodec(9), {}, "first_page: is missing"),
        (PageCodec(9), {"pages": []}, "pages: contains no number"),
        (PageCodec(9), {"first_page": True}, "first_page: must be a whole number, not True"),
        (PageCodec(9), {"first_page": 10**12}, "first_page: 1000000000000 is beyond the limit of 1,000,000,000"),
        (LineCodec(9), {"lines": [1, 2, 3]}, "lines: must be one or two whole numbers"),
        (TimeCodec(9, Modality.VIDEO), {"start": "soon"}, "start: must be a number, not 'soon'"),
        (TimeCodec(9, Modality.VIDEO), {"start": float("inf")}, "start: inf is beyond the limit of 1,000,000,000"),
        (BoxCodec(), {"bbox": [10, 10, 300, 200]}, "bbox: must be fractions from 0 to 1"),
        (BoxCodec(), {"box_2d": [0.1, 0.1, 0.5, 0.75]}, "box_2d: must be thousandths"),
        (BoxCodec(), {"bbox": [0, 0, 1]}, "bbox: must be four numbers"),
        (
            ParagraphCodec([[(0, 3)]]),
            {"first_chapter": 2},
            "first_chapter: chapter 2 does not exist; the chapters are numbered from 1 to 1",
        ),
    ],
)
def test_a_malformed_location_names_the_field_and_the_reason(
    codec: LocationCodec, record: dict[str, Any], reason: str
) -> None:
    with pytest.raises(LocationMalformed) as wrong:
        codec.parse(record)

    assert str(wrong.value).startswith(reason)
