"""Laws of the exchange: what is written in a standard's form reads back as the same place."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.domain.errors import FormUnsupported
from citekit.domain.exchange import (
    Context,
    TextNode,
    TextPosition,
    from_epub_cfi,
    from_iiif,
    from_media_fragment,
    from_pdf_open,
    from_rfc5147,
    from_web_annotation,
    to_epub_cfi,
    to_iiif,
    to_media_fragment,
    to_pdf_open,
    to_rfc5147,
    to_web_annotation,
)
from citekit.domain.exchange.epub_cfi import Cfi
from citekit.domain.exchange.text_selectors import lines_of, position_of
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from tests.strategies import COUNTS, boxes, chapters, lines, pages, spans

SIZES = st.tuples(st.floats(1, 1e5), st.floats(1, 1e5)) | st.sampled_from([(612, 792), (595.276, 841.89)])
TEXTS = st.text("ab \n\réü", min_size=1, max_size=60)


@given(spans())
@example(TimeSpan(5e-324, 0.1 + 0.2))
def test_time_survives_media_fragments(span: TimeSpan) -> None:
    assert span == from_media_fragment(to_media_fragment(span), span.modality)


@given(boxes())
@example(Box(5e-324, 0.1, 0.1 + 0.2, 1))
def test_regions_survive_media_fragments_and_iiif_exactly(box: Box) -> None:
    assert box == from_media_fragment(to_media_fragment(box), Modality.IMAGE)
    assert box == from_iiif(to_iiif(box))


@given(COUNTS, boxes(), SIZES)
@example(1, Box(5e-324, 0.1, 0.1 + 0.2, 1), (595.276, 841.89))
def test_regions_of_pages_survive_pdf_open_parameters(page: int, box: Box, size: tuple[float, float]) -> None:
    place = Pages((page,), box)

    assert place == from_pdf_open(to_pdf_open(place, size), size)


@given(pages())
def test_pages_export_their_first(place: Pages) -> None:
    assert Pages((place.numbers[0],)) == from_pdf_open(to_pdf_open(place))


@given(lines(), st.none() | st.binary(max_size=50))
def test_lines_survive_rfc_5147_with_and_without_checks(place: Lines, data: bytes | None) -> None:
    assert place == from_rfc5147(to_rfc5147(place, data), data)


@given(st.integers(0, 99), st.none() | st.integers(0, 99))
def test_characters_survive_rfc_5147(start: int, length: int | None) -> None:
    place = TextPosition(start, None if length is None else start + length)

    assert place == from_rfc5147(to_rfc5147(place))


@given(chapters().filter(lambda chapter: chapter.chars is None))
def test_chapters_survive_epub_cfi(place: Chapter) -> None:
    assert place == from_epub_cfi(to_epub_cfi(place))
    assert place == from_epub_cfi(to_epub_cfi(place), [TextNode("/4/2/1", 0, "some text")])


@st.composite
def text_nodes(draw: st.DrawFn) -> list[TextNode]:
    nodes, start = [], 0
    for paragraph in range(1, draw(st.integers(1, 4)) + 1):
        for piece in range(draw(st.integers(1, 3))):
            text = draw(st.text("ab😀é", min_size=1, max_size=6))
            nodes.append(TextNode((4, 2 * paragraph, 2 * piece + 1), start, text))
            start += len(text)
    return nodes


@given(text_nodes(), st.data())
def test_characters_survive_epub_cfi_where_the_text_nodes_are_known(nodes: list[TextNode], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, nodes[-1].end - 1))
    end = data.draw(st.integers(start + 1, nodes[-1].end))
    place = Chapter(3, (start, end))

    identifier = to_epub_cfi(place, nodes)

    assert place == from_epub_cfi(identifier, nodes)
    assert Chapter(3) == from_epub_cfi(identifier)
    assert identifier == str(Cfi.parse(identifier))


@given(TEXTS, st.data())
def test_lines_and_characters_of_a_text_agree(text: str, data: st.DataObject) -> None:
    count = lines_of(TextPosition(0), text).last
    first = data.draw(st.integers(1, count))
    place = Lines(first, data.draw(st.integers(first, count)))

    assert place == lines_of(position_of(place, text), text)


def survives(place: Location, modality: Modality, known: Context = Context()) -> bool:  # noqa: B008 - frozen
    plain = to_web_annotation(place, "https://example.org/x", known)
    return place == from_web_annotation(json.loads(json.dumps(plain)), modality, known)


@given(spans() | boxes() | lines() | COUNTS.map(lambda page: Pages((page,))))
def test_places_survive_web_annotation(place: Location) -> None:
    assert survives(place, place.modality)


@given(chapters())
def test_chapters_and_their_characters_survive_web_annotation(place: Chapter) -> None:
    assert survives(place, Modality.DOCUMENT)


@given(COUNTS, boxes(), SIZES)
def test_regions_of_pages_survive_web_annotation(page: int, box: Box, size: tuple[float, float]) -> None:
    assert survives(Pages((page,), box), Modality.DOCUMENT, Context(page_size=size))


@given(TEXTS, st.data())
def test_every_selector_of_a_passage_finds_it_alone(text: str, data: st.DataObject) -> None:
    count = lines_of(TextPosition(0), text).last
    first = data.draw(st.integers(1, count))
    place = Lines(first, data.draw(st.integers(first, count)))
    known = Context(text=text)

    selectors = to_web_annotation(place, "x", known)["selector"]

    assert [each["type"] for each in selectors] == ["FragmentSelector", "TextPositionSelector", "TextQuoteSelector"]
    assert [place] * 3 == [from_web_annotation(each, Modality.TEXT, known) for each in selectors]


@given(TEXTS, st.data())
def test_every_refinement_of_a_chapter_finds_its_characters_alone(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    place = Chapter(7, (start, data.draw(st.integers(start + 1, len(text)))))
    known = Context(text=text)

    selector = to_web_annotation(place, "x", known)["selector"]

    for refinement in selector["refinedBy"]:
        assert place == from_web_annotation({**selector, "refinedBy": refinement}, Modality.DOCUMENT, known)


PLACES: list[Location] = [Pages((1,)), Lines(1, 2), TimeSpan(1, 2), Box(0, 0, 1, 1), Chapter(1), Virtual("x")]


@pytest.mark.parametrize(
    ("export", "carried"),
    [
        (to_media_fragment, (TimeSpan, Box)),
        (to_pdf_open, (Pages,)),
        (to_rfc5147, (Lines,)),
        (to_epub_cfi, (Chapter,)),
        (to_iiif, (Box,)),
        (lambda place: str(to_web_annotation(place, "x")), (Pages, Lines, TimeSpan, Box, Chapter)),
    ],
)
def test_a_place_that_a_standard_cannot_carry_is_refused(
    export: Callable[[Location], str], carried: tuple[type, ...]
) -> None:
    for place in PLACES:
        if isinstance(place, carried):
            assert export(place)
        else:
            with pytest.raises(FormUnsupported):
                export(place)


def test_characters_need_text_nodes_to_become_a_cfi() -> None:
    with pytest.raises(FormUnsupported, match="text nodes"):
        to_epub_cfi(Chapter(1, (0, 5)))
    with pytest.raises(FormUnsupported, match="not in any text node of the chapter"):
        to_epub_cfi(Chapter(1, (50, 55)), [TextNode("/4/2/1", 0, "short")])
