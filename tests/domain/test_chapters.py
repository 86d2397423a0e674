"""The sections of a map in the text, the chapters of a book, and chunks in its map."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.chapters import BookSection, chapters, sections, with_chunks
from citekit.domain.library.extracted_text import ExtractedText, Unit, UnitKind
from citekit.domain.library.sentences import count_words
from citekit.domain.locations import Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues
from tests.strategies import nodes

WHEN = datetime(2024, 1, 1, tzinfo=UTC)


def extracted_text(kind: UnitKind, units: list[str], separator: str = "\n") -> ExtractedText:
    made, position = [], 0
    for number, text in enumerate(units, 1):
        made.append(Unit(number, position, position + len(text)))
        position += len(text) + len(separator)
    return ExtractedText(kind, separator.join(units), made)


def lined(count: int) -> ExtractedText:
    """Lines of ten words."""
    return extracted_text(
        UnitKind.LINE, [f"Line {number} has ten words, as all of them have." for number in range(1, count + 1)]
    )


def section(name: str, first: int, last: int, *children: Node, type: str = "section") -> Node:
    return Node(name, name.rpartition(".")[2].title(), type, Lines(first, last), None, children)


def book(tree: tuple[Node, ...], modality: Modality = Modality.TEXT) -> ResourceMap:
    return ResourceMap("book", modality, "The Book", "/books/book", tree, WHEN)


def titled(text: ExtractedText, found: tuple[BookSection, ...]) -> list[tuple[str, int]]:
    """The title of each, and its words."""
    return [(each.title, count_words(text.text[each.start : each.end])) for each in found]


def marks(text: ExtractedText, spans: list[tuple[int, int]]) -> list[tuple[int, int, Location, str, str | None]]:
    return [(start, end, text.locate(start, end), f"Chunk at {start}", None) for start, end in spans]


@given(nodes())
def test_sections_are_nested_and_in_order(tree: tuple[Node, ...]) -> None:
    text = lined(400)

    found = sections(text, tree)

    assert all(one.start <= other.start for one, other in pairwise(found))
    assert all(other.depth <= one.depth + 1 for one, other in pairwise(found))
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            inside = other.start >= one.start and other.end <= one.end and other.depth > one.depth
            assert inside or other.start >= one.end


@pytest.mark.long
@given(nodes())
def test_a_section_of_whole_lines_is_that_of_its_node(tree: tuple[Node, ...]) -> None:
    text = lined(400)
    by_id = {node.id: node for node in book(tree).walk()}

    found = sections(text, tree)

    assert set(by_id) == {each.node_id for each in found}
    for each in found:
        assert each.node_id is not None
        assert by_id[each.node_id].location == text.locate(each.start, each.end)


@given(nodes(), st.integers(0, 5000))
def test_chapters_are_a_partition_of_the_text(tree: tuple[Node, ...], limit: int) -> None:
    text = lined(400)

    found = chapters(text, tree, "The Book", limit)

    assert (0, len(text.text)) == (found[0].start, found[-1].end)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert all(each.start < each.end for each in found)


def test_a_section_ends_where_the_next_one_begins() -> None:
    text = extracted_text(UnitKind.PAGE, ["One\nfirst words\nTwo\nmore words", "the end of it"])
    tree = [Node("one", "One", "section", Pages((1,))), Node("two", "Two", "section", Pages((1, 2)))]

    found = sections(text, tree)

    assert ["One\nfirst words\n", "Two\nmore words\nthe end of it"] == [
        text.text[each.start : each.end] for each in found
    ]


@pytest.mark.parametrize(
    "page",
    [
        "The end of the last one, in words.\nThis is the end of it.\nAnd this.\nSo.\n1.2 The Sea\nIt is wet.",
        "The end of the last one, in words.\nThis is the end of it.\nAnd this.\nSo.\n  THE\nSEA   17\nIt is wet.",
        "The sea was high that day, they say.\nThe sea is wet.\nAnd so on.\nSo.\nThe Sea\nIt is wet.",
        "The Sea\nthe running header stands above, and this is what\nis left of the page.\nSo.\nThe Sea\nIt is wet.",
        "It is said again.\nAnd again.\nAnd again, and more.\nSo.\nCHAPTER IV.\nThe Sea\nIt is wet.",
        "It is said again.\nAnd again.\nAnd again, and more.\nSo.\nChapter IV. The Sea.\nIt is wet.",
    ],
)
def test_a_section_of_pages_begins_at_its_title(page: str) -> None:
    text = extracted_text(UnitKind.PAGE, ["Page one.", page])

    found = sections(text, [Node("sea", "The Sea", "section", Pages((2,)))])

    start = text.text[found[0].start :]
    assert start.endswith("\nIt is wet.")
    assert "thesea" in "".join(start.lower().split())
    assert len(start) < 40


def test_ligatures_and_accents_in_a_title_do_not_matter() -> None:
    text = extracted_text(UnitKind.PAGE, ["One.\nTwo is here.\nThree.\nFour.\nThe \ufb01rst caf\u00e9\nThe text."])

    found = sections(text, [Node("a", "The first cafe\u0301", "section", Pages((1,)))])

    assert "The \ufb01rst caf\u00e9\nThe text." == text.text[found[0].start :]


def test_a_running_header_above_a_title_belongs_to_its_section() -> None:
    text = extracted_text(UnitKind.PAGE, ["Page one.", "12 A book about it\nThe Sea\nIt is wet."])

    found = sections(text, [Node("sea", "The Sea", "section", Pages((2,)))])

    assert text.units[1].start == found[0].start


def test_a_section_whose_title_is_nowhere_begins_at_the_top_of_its_page() -> None:
    text = extracted_text(UnitKind.PAGE, ["Page one.", "Words about the land and the sea.\nMore.\nMore."])

    found = sections(text, [Node("sea", "The Sea", "section", Pages((2,)))])

    assert text.units[1].start == found[0].start


def test_two_sections_of_the_same_name_on_one_page_begin_one_after_the_other() -> None:
    text = extracted_text(UnitKind.PAGE, ["A page.\nNotes\nabout this\nand that\nNotes\nof others"])
    tree = [Node("notes", "Notes", "section", Pages((1,))), Node("notes_2", "Notes", "section", Pages((1,)))]

    found = sections(text, tree)

    assert ["notes", "notes_2"] == [each.node_id for each in found]
    assert "Notes\nof others" == text.text[found[1].start : found[1].end]


def test_a_range_of_characters_in_a_chapter_is_a_section() -> None:
    text = extracted_text(UnitKind.CHAPTER, ["Title page", "First part. Second part."], "\n\n")
    tree = [Node("a", "A", "section", Chapter(2, (0, 11))), Node("b", "B", "section", Chapter(2, (12, 24)))]

    found = sections(text, tree)

    assert ["First part. ", "Second part."] == [text.text[each.start : each.end] for each in found]


def test_a_section_of_whole_chapters_begins_behind_the_one_before_it_in_the_same_chapter() -> None:
    text = extracted_text(UnitKind.CHAPTER, ["First part. Second part. And more.", "All of it."], "\n\n")
    inside = (Node("b.a", "A", "section", Chapter(1, (25, 34))), Node("b.b", "B", "section", Chapter(2)))
    tree = [Node("a", "A", "section", Chapter(1, (0, 12))), Node("b", "B", "section", Chapter(1, last=2), None, inside)]

    found = sections(text, tree)

    assert ["First part. ", "Second part. And more.\n\nAll of it.", "And more.\n\n", "All of it."] == [
        text.text[each.start : each.end] for each in found
    ]


def test_a_node_without_a_place_in_the_text_gives_way_to_what_is_below_it() -> None:
    inside = Node("film.a", "A", "section", Lines(1, 2))
    tree = [Node("film", "Film", "scene", TimeSpan(0, 1, Modality.VIDEO), None, (inside,))]

    found = sections(lined(3), tree)

    assert [("film.a", 0)] == [(each.node_id, each.depth) for each in found]


def test_nodes_that_go_very_deep_are_followed() -> None:
    tree = section("n", 1, 3)
    for depth in range(3000):
        tree = evolve(tree, id=f"n{depth}", children=(tree,))

    assert 3001 == len(sections(lined(3), [tree]))
    assert [("N", 30)] == titled(lined(3), chapters(lined(3), [tree], "The Book", 5))


def test_chapters_are_the_sections_at_the_top() -> None:
    text = lined(100)
    tree = (section("one", 1, 40, section("one.a", 1, 20)), section("two", 41, 100))

    assert [("One", 400), ("Two", 600)] == titled(text, chapters(text, tree, "The Book"))


def test_a_long_section_is_replaced_by_those_inside_it_and_what_stands_before() -> None:
    text = lined(100)
    inside = (section("one.a", 5, 20), section("one.b", 21, 40, section("one.b.c", 30, 40)))
    tree = (section("one", 1, 40, *inside), section("two", 41, 100))

    found = chapters(text, tree, "The Book", 300)

    assert [("One", 40), ("A", 160), ("B", 200), ("Two", 600)] == titled(text, found)
    assert ["one", "one.a", "one.b", "two"] == [each.node_id for each in found]


def test_a_heading_alone_is_no_chapter_but_stands_before_the_first_one_below_it() -> None:
    text = lined(100)
    tree = (section("one", 1, 60, section("one.a", 2, 30, section("one.a.b", 3, 30)), section("one.c", 31, 60)),)

    found = chapters(text, tree, "The Book", 200)

    assert [("A", 20), ("B", 280), ("C", 700)] == titled(text, found)


def test_text_before_the_first_section_is_front_matter() -> None:
    text = lined(50)

    found = chapters(text, (section("one", 4, 50),), "The Book")

    assert [("Front matter", 30), ("One", 470)] == titled(text, found)
    assert found[0].node_id is None


def test_a_few_words_before_the_first_section_belong_to_it() -> None:
    text = lined(50)

    assert [("One", 500)] == titled(text, chapters(text, (section("one", 2, 50),), "The Book"))


def test_groups_of_pages_or_lines_are_no_chapters() -> None:
    text = lined(50)
    tree = (section("lines", 1, 20, type="lines"), section("one", 21, 50, section("one.x", 21, 30, type="lines")))

    assert [("Front matter", 200), ("One", 300)] == titled(text, chapters(text, tree, "The Book", 50))


def test_a_book_without_sections_is_parted_at_paragraphs() -> None:
    text = extracted_text(UnitKind.LINE, ["word " * 700, ""] * 30)

    found = chapters(text, (), "The Book")

    assert [f"Section {number}" for number in range(1, 6)] == [each.title for each in found]
    assert all(text.text[each.start - 2 : each.start] == "\n\n" for each in found[1:])
    assert all(3500 <= count <= 5000 for _, count in titled(text, found))


def test_a_book_without_sections_and_paragraphs_is_parted_all_the_same() -> None:
    text = ExtractedText(UnitKind.LINE, "word " * 20_000, [Unit(1, 0, 100_000)])

    assert [5000] * 4 == [count for _, count in titled(text, chapters(text, (), "The Book"))]


def test_a_short_text_without_sections_is_one_chapter_with_the_title_of_the_book() -> None:
    assert [("The Book", 30)] == titled(lined(3), chapters(lined(3), (), "The Book"))


def test_a_book_without_text_has_no_chapters() -> None:
    assert () == chapters(ExtractedText(UnitKind.PAGE, "", ()), (section("one", 1, 2),), "The Book")


@st.composite
def cuts(draw: st.DrawFn) -> list[tuple[int, int]]:
    """A text of 400 lines in consecutive chunks, white space at their ends."""
    length = len(lined(400).text)
    inside = draw(st.sets(st.integers(1, length - 1), max_size=30))
    return list(pairwise([0, *sorted(inside), length]))


@given(nodes(), cuts())
def test_a_chunk_lies_inside_the_place_of_every_node_above_it(
    tree: tuple[Node, ...], spans: list[tuple[int, int]]
) -> None:
    text = lined(400)

    planted = with_chunks(book(tree), text, marks(text, spans))

    made = planted.resource_map
    assert [] == [fault for fault in map_issues(made) if "chunk" in fault]
    for name, (start, end) in zip(planted.ids, spans, strict=True):
        node, above = made.find(name), made.parent(name)
        assert ("chunk", text.locate(start, end), ()) == (node.type, node.location, node.children)
        assert above is None or above.location.contains(node.location)
        assert name == f"{above.id}.{name.rpartition('.')[2]}" if above else "." not in name


@pytest.mark.long
@given(nodes(), cuts())
def test_a_chunk_goes_as_deep_as_the_text_of_a_section_holds_it(
    tree: tuple[Node, ...], spans: list[tuple[int, int]]
) -> None:
    text = lined(400)
    found = sections(text, tree)

    planted = with_chunks(book(tree), text, marks(text, spans))

    for name, (start, end) in zip(planted.ids, spans, strict=True):
        around = [each.node_id for each in found if each.start <= start and end <= each.end]
        above = planted.resource_map.parent(name)
        assert not around or (above is not None and above.id == around[-1])


@given(nodes(), cuts())
def test_chunks_change_nothing_else_and_can_be_put_in_again(
    tree: tuple[Node, ...], spans: list[tuple[int, int]]
) -> None:
    text, before = lined(400), book(tree)

    once = with_chunks(before, text, marks(text, spans))
    again = with_chunks(once.resource_map, text, marks(text, spans))
    none = with_chunks(once.resource_map, text, [])

    assert (once, before) == (again, none.resource_map)


@pytest.mark.long
@given(nodes(), cuts())
def test_the_outline_of_a_map_has_no_chunks(tree: tuple[Node, ...], spans: list[tuple[int, int]]) -> None:
    text, before = lined(400), book(tree)

    stored = with_chunks(before, text, marks(text, spans)).resource_map

    assert before == stored.outline
    assert before.node_count == stored.card().nodes
    assert before.outline is before


def test_chunks_of_other_programs_stay_in_the_outline() -> None:
    foreign = book(
        (section("chunk_1", 1, 5, type="chunk"), section("chunk_2_00ff", 6, 9, section("x", 6, 7), type="chunk"))
    )

    assert foreign.outline is foreign


def unmarked(name: str) -> str:
    """An id without the four digits that stand for a chunk's place."""
    return re.sub(r"(chunk_\d+)_[0-9a-f]{4}$", r"\1", name)


def test_the_id_of_a_chunk_that_is_cut_otherwise_is_another() -> None:
    text = lined(10)
    tree = (section("one", 1, 10),)
    middle = text.units[5].start

    coarse = with_chunks(book(tree), text, marks(text, [(0, len(text.text))]))
    fine = with_chunks(book(tree), text, marks(text, [(0, middle), (middle, len(text.text))]))

    assert not set(coarse.ids) & set(fine.ids)


def test_chunks_stand_in_reading_order_among_the_sections() -> None:
    text = lined(10)
    tree = (section("one", 1, 10, section("one.a", 4, 6)),)
    starts = [unit.start for unit in text.units]
    spans = [(starts[0], starts[3]), (starts[3], starts[6]), (starts[6], len(text.text))]

    planted = with_chunks(book(tree), text, marks(text, spans))

    assert ["one.chunk_1", "one.a.chunk_1", "one.chunk_2"] == [unmarked(each) for each in planted.ids]
    walked = [unmarked(node.id) for node in planted.resource_map.walk()]
    assert ["one", "one.chunk_1", "one.a", "one.a.chunk_1", "one.chunk_2"] == walked


def test_of_two_sections_on_one_page_a_chunk_goes_to_the_one_whose_text_holds_it() -> None:
    text = extracted_text(UnitKind.PAGE, ["One\nfirst words\nTwo\nmore words"])
    tree = (Node("one", "One", "section", Pages((1,))), Node("two", "Two", "section", Pages((1,))))
    spans = [(each.start, each.end) for each in sections(text, tree)]

    planted = with_chunks(book(tree, Modality.DOCUMENT), text, marks(text, spans))

    assert ["one.chunk_1", "two.chunk_1"] == [unmarked(each) for each in planted.ids]


def test_a_node_of_somebody_else_that_is_called_chunk_stays() -> None:
    theirs = section("one.intro", 1, 2, type="chunk")
    before = book((section("one", 1, 10, theirs),))

    planted = with_chunks(before, lined(10), [])

    assert before == planted.resource_map


def test_thousands_of_chunks_find_their_place() -> None:
    text = lined(6000)
    tree = tuple(section(f"s{part}", 4 * part + 1, 4 * part + 4) for part in range(1500))
    starts = [*(unit.start for unit in text.units), len(text.text)]
    spans = [(starts[place], starts[place + 2]) for place in range(0, 6000, 2)]

    planted = with_chunks(book(tree), text, marks(text, spans))

    assert [f"s{place // 2}.chunk_{place % 2 + 1}" for place in range(3000)] == [unmarked(each) for each in planted.ids]
