"""The forms of the standards as others write them: what is read, and what is refused and why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import AddressMalformed
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
    to_rfc5147,
)
from citekit.domain.exchange.epub_cfi import Cfi, Step, escape, unescape
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality

AUDIO, DOCUMENT, IMAGE, TEXT, VIDEO = (
    Modality.AUDIO,
    Modality.DOCUMENT,
    Modality.IMAGE,
    Modality.TEXT,
    Modality.VIDEO,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#t=145,200", TimeSpan(145, 200)),
        ("t=npt:10.5,20", TimeSpan(10.5, 20)),
        ("t=npt:10", TimeSpan(10)),
        ("t=,20", TimeSpan(0, 20)),
        ("t=02:25.5,03:20", TimeSpan(145.5, 200)),
        ("t=0:02:25.5,1:03:20", TimeSpan(145.5, 3800)),
        ("t=120:00:00,121:00:00", TimeSpan(432000, 435600)),
        ("%74=%6ept:1%2C2", TimeSpan(1, 2)),
        ("https://example.org/talk.mp4?x=1#t=1,2&track=audio&id=intro&unknown=3", TimeSpan(1, 2)),
        ("t=1,2&t=3,4", TimeSpan(3, 4)),
        ("t=1,2&t=9,4", TimeSpan(1, 2)),
        ("t=1,2&xywh=160,120,320,240&&=&novalue&%ff=1", TimeSpan(1, 2)),
    ],
)
def test_times_of_media_fragments_are_read(text: str, expected: TimeSpan) -> None:
    assert expected == from_media_fragment(text, VIDEO)


@pytest.mark.parametrize(
    ("text", "dimensions", "expected"),
    [
        ("#xywh=percent:25,25,50,50", None, Box(0.25, 0.25, 0.75, 0.75)),
        ("#xywh=percent:33.33,0,66.67,100", None, Box(0.3333, 0, 1, 1)),
        ("xywh=pixel:160,120,320,240", (640, 480), Box(0.25, 0.25, 0.75, 0.75)),
        ("xywh=160,120,320,240", (640, 480), Box(0.25, 0.25, 0.75, 0.75)),
        ("xywh=600,0,320,240", (640, 480), Box(0.9375, 0, 1, 0.5)),
        ("#xywh=percent:33.34,0,66.67,100", None, Box(0.3334, 0, 1, 1)),
        ("t=5&xywh=percent:0,0,10,10&xywh=percent:0,0,20,20", None, Box(0, 0, 0.2, 0.2)),
    ],
)
def test_regions_of_media_fragments_are_read(text: str, dimensions: tuple[int, int] | None, expected: Box) -> None:
    assert expected == from_media_fragment(text, IMAGE, dimensions)


@pytest.mark.parametrize(
    ("text", "modality", "part", "reason"),
    [
        ("t=145-200", VIDEO, "145-200", "comma"),
        ("t=200,145", VIDEO, "200,145", "must be after"),
        ("t=10,", VIDEO, "10,", "missing"),
        ("t=smpte:0:02:00", VIDEO, "smpte:0:02:00", "normal play time"),
        ("t=clock:2009-07-26T11:19:01Z", VIDEO, "clock:2009-07-26T11:19:01Z", "normal play time"),
        ("t=1:60", AUDIO, "1:60", "below 60"),
        ("xywh=percent:1,1,1,1", VIDEO, "xywh=percent:1,1,1,1", "must have the parameter t"),
        ("t=1,2", IMAGE, "t=1,2", "must have the parameter xywh"),
        ("xywh=1,1,1,1", IMAGE, "1,1,1,1", "width and height"),
        ("xywh=em:1,1,1,1", IMAGE, "em:1,1,1,1", "percent or pixel"),
        ("xywh=percent:1,1,0,1", IMAGE, "1,1,0,1", "above 0"),
        ("xywh=percent:100,1,5,1", IMAGE, "100,1,5,1", "outside"),
        ("xywh=percent:-1,1,5,1", IMAGE, "-1,1,5,1", "four numbers"),
        ("xywh=percent:1,1,5", IMAGE, "1,1,5", "four numbers"),
        ("xywh=percent:1,1,5," + "9" * 2000, IMAGE, "1,1,5,999", "longer than"),
        ("t=1,2", TEXT, "t=1,2", "do not support text"),
    ],
)
def test_other_media_fragments_are_refused(text: str, modality: Modality, part: str, reason: str) -> None:
    with pytest.raises(AddressMalformed, match=reason) as caught:
        from_media_fragment(text, modality)

    assert text == caught.value.address
    assert caught.value.part.startswith(part)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#page=12", Pages((12,))),
        ("book.pdf#page=12&zoom=200,0,0&search=%22a%20b%22&view=FitH,3", Pages((12,))),
        ("#page=12#viewrect=61.2,79.2,306,396", Pages((12,), Box(0.1, 0.1, 0.6, 0.6))),
        ("page=12&viewrect=61.2,79.2,306,396", Pages((12,), Box(0.1, 0.1, 0.6, 0.6))),
        ("page=12&highlight=61.2,367.2,79.2,475.2", Pages((12,), Box(0.1, 0.1, 0.6, 0.6))),
        ("page=3&viewrect=0,0,9,9&page=12", Pages((12,))),
        ("page=12&viewrect=306,0,9999,792", Pages((12,), Box(0.5, 0, 1, 1))),
    ],
)
def test_pdf_open_parameters_are_read(text: str, expected: Pages) -> None:
    assert expected == from_pdf_open(text, (612, 792))


@pytest.mark.parametrize(
    ("text", "size", "part"),
    [
        ("#zoom=200", None, "zoom=200"),
        ("#page=0", None, "page=0"),
        ("#page=xii", None, "page=xii"),
        ("#nameddest=chapter1", None, "nameddest=chapter1"),
        ("#page=1&viewrect=1,2,3,4", None, "1,2,3,4"),
        ("#page=1&viewrect=1,2,3", (612, 792), "1,2,3"),
        ("#page=1&viewrect=613,2,3,3", (612, 792), "613,2,3,3"),
        ("#page=1&highlight=9,5,1,2", (612, 792), "9,5,1,2"),
        ("#page=1&viewrect=1,2,3,4", (0, 792), "(0, 792)"),
        ("#page=1&viewrect=1,2,3,4", (float("nan"), 792), "(nan, 792)"),
    ],
)
def test_other_pdf_open_parameters_are_refused(text: str, size: tuple[float, float] | None, part: str) -> None:
    with pytest.raises(AddressMalformed) as caught:
        from_pdf_open(text, size)

    assert (text, part) == (caught.value.address, caught.value.part)


DATA = "eins\nzwei\r\ndrei\nvier, fünf\n".encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#line=9,20", Lines(10, 20)),
        ("notes.txt#line=,2", Lines(1, 2)),
        ("line=2,", Lines(3, 4)),
        ("char=5,9", TextPosition(5, 9)),
        ("char=5,", TextPosition(5)),
        ("char=5", TextPosition(5, 5)),
        ("char=,9", TextPosition(0, 9)),
        ("line=0,1;length=28", Lines(1, 1)),
        ("line=0,1;length=28,UTF-8", Lines(1, 1)),
        ("line=0,1;length=27,iso-8859-1", Lines(1, 1)),
        ("line=0,1;md5=8C22BC2EBD5FF0D8F83A4D4E0B5E4E44;length=28", None),
    ],
)
def test_rfc_5147_is_read_and_its_checks_are_made(text: str, expected: Lines | TextPosition | None) -> None:
    if expected is None:
        with pytest.raises(AddressMalformed, match="the MD5 digests differ"):
            from_rfc5147(text, DATA)
    else:
        assert expected == from_rfc5147(text, DATA)


def test_checks_are_passed_over_where_the_text_is_not_at_hand() -> None:
    assert Lines(1, 1) == from_rfc5147(f"line=0,1;length=5;md5={'0' * 32}")


def test_an_export_with_the_text_notices_another_text() -> None:
    fragment = to_rfc5147(Lines(2, 3), DATA)

    assert fragment.startswith("#line=1,3;length=28;md5=")
    assert Lines(2, 3) == from_rfc5147(fragment, DATA)
    with pytest.raises(AddressMalformed, match="different text: the length of this text in bytes is 29"):
        from_rfc5147(fragment, DATA + b"!")
    with pytest.raises(AddressMalformed, match="different text: the MD5 digests differ"):
        from_rfc5147(fragment, DATA.replace(b"e", b"f"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("#line=9", "line=9"),
        ("#line=20,9", "line=20,9"),
        ("#line=9,9", "line=9,9"),
        ("#line=9,", "line=9,"),
        ("#line=,", "line=,"),
        ("#line=", "line="),
        ("#line=a,b", "line=a,b"),
        ("#char=9,5", "char=9,5"),
        ("#page=1", "page=1"),
        ("#line=1,2;size=3", "size=3"),
        ("#line=1,2;length=ab", "length=ab"),
        ("#line=1,2;md5=abc", "md5=abc"),
        ("#line=1,9999999999999", "9999999999999"),
    ],
)
def test_other_fragments_of_texts_are_refused(text: str, part: str) -> None:
    with pytest.raises(AddressMalformed) as caught:
        from_rfc5147(text)

    assert part == caught.value.part


def test_a_check_in_a_character_set_that_cannot_hold_the_text_is_refused() -> None:
    for charset in ("us-ascii", "no-such-set"):
        with pytest.raises(AddressMalformed, match="cannot be converted to"):
            from_rfc5147(f"#line=0,1;length=28,{charset}", DATA)


NODES = [
    TextNode("/4/2/1", 0, "Chapter One"),
    TextNode("/4/4/1", 12, "It was "),
    TextNode("/4/4/2/1", 19, "the 😀"),
    TextNode("/4/4/3", 24, " best."),
]


@pytest.mark.parametrize(
    ("text", "bare", "exact"),
    [
        ("epubcfi(/6/4!/4/2:3)", Chapter(2), Chapter(2, (0, 11))),
        ("epubcfi(/6/4)", Chapter(2), Chapter(2)),
        ("epubcfi(/6/4!)", Chapter(2), Chapter(2)),
        ("epubcfi(/6/4[chap01ref]!/4[body01])", Chapter(2), Chapter(2)),
        ("epubcfi(/6/4!/4/4/2/1:2)", Chapter(2), Chapter(2, (19, 24))),
        ("epubcfi(/6/4!/4/4)", Chapter(2), Chapter(2, (12, 30))),
        ("epubcfi(/6/4!/4,/2/1:8,/4/1:2)", Chapter(2), Chapter(2, (8, 14))),
        ("epubcfi(/6/4!/4/4,/2/1:4,/3:1)", Chapter(2), Chapter(2, (23, 25))),
        ("epubcfi(/6/4!/4/4,/2/1:6,/3:5)", Chapter(2), Chapter(2, (24, 29))),
        ("epubcfi(/6/4!/4/4/1,:0,:99)", Chapter(2), Chapter(2, (12, 19))),
        ("epubcfi(/6/4!/4,/2,/4)", Chapter(2), Chapter(2, (0, 30))),
        ("epubcfi(/6,/6!/4,/18!/4)", Chapter(3, last=9), Chapter(3, last=9)),
        ("book.epub#epubcfi(/6/4%5Bchap%5E%5D1%5D!/4/4)", Chapter(2), Chapter(2, (12, 30))),
        ("epubcfi(/6/4!/4/2/1:3[xx,y;s=b])", Chapter(2), Chapter(2, (0, 11))),
        ("epubcfi(/6/4!/4/2~1.5@50:50)", Chapter(2), Chapter(2, (0, 11))),
    ],
)
def test_epub_cfis_are_read(text: str, bare: Chapter, exact: Chapter) -> None:
    assert bare == from_epub_cfi(text)
    assert exact == from_epub_cfi(text, NODES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/6/4!/4",
        "epubcfi()",
        "epubcfi(/6/4",
        "epubcfi(6/4)",
        "epubcfi(/6/4!/4,/2)",
        "epubcfi(/6/4!/4,/2,/4,/6)",
        "epubcfi(/6/4[open!/4)",
        "epubcfi(/6/4:1,/2,/4)",
        "epubcfi(/6/x)",
        "epubcfi(/6/4) ",
        "epubcfi(/6/4)epubcfi(/6/4)",
        "epubcfi(/4/4!/4)",
        "epubcfi(/6)",
        "epubcfi(/6/3!/4)",
        "epubcfi(/6/0!/4)",
        "epubcfi(/6,/18!/4,/6!/4)",
        "epubcfi(/6/4[" + "^" * 999 + ")",
    ],
)
def test_other_texts_are_no_epub_cfi(text: str) -> None:
    with pytest.raises(AddressMalformed) as caught:
        from_epub_cfi(text)

    assert caught.value.part in text or caught.value.part.startswith("/")


def test_text_that_the_given_nodes_do_not_hold_is_refused() -> None:
    with pytest.raises(AddressMalformed, match="no text at this path"):
        from_epub_cfi("epubcfi(/6/4!/4/8/1:3)", NODES)
    with pytest.raises(AddressMalformed, match="must end after its start"):
        from_epub_cfi("epubcfi(/6/4!/4/2,/1:5,/1:2)", NODES)


def test_a_cfi_keeps_its_assertions_and_escapes() -> None:
    text = "epubcfi(/6/4[chap^]01ref]!/4[body01]/10[para^,05]/2/1:3[xx,y;s=b])"

    cfi = Cfi.parse(text)

    assert text == str(cfi)
    assert (Step(6), Step(4, "chap^]01ref")) == cfi.path.groups[0]
    assert unescape(cfi.path.groups[0][1].assertion or "") == "chap]01ref"
    assert cfi.path.characters == 3


@given(st.text(max_size=30))
def test_every_assertion_can_be_escaped(text: str) -> None:
    written = f"epubcfi(/6/4[{escape(text)}]!/4)"

    step = Cfi.parse(written).path.groups[0][1]

    assert text == unescape(step.assertion or "")


@given(st.text("/46!:[]^,()~@.x", max_size=30).map("epubcfi({})".format))
def test_any_text_is_a_cfi_that_is_written_as_it_was_or_refused(text: str) -> None:
    try:
        cfi = Cfi.parse(text)
    except AddressMalformed:
        return

    assert cfi == Cfi.parse(str(cfi))


@pytest.mark.parametrize(
    ("text", "dimensions", "expected"),
    [
        ("pct:10,20,30,40/max/0/default.jpg", None, Box(0.1, 0.2, 0.4, 0.6)),
        ("pct:10,20,30,40", None, Box(0.1, 0.2, 0.4, 0.6)),
        ("https://example.org/iiif/id%2F1/pct:10,20,30,40/^!500,500/!22.5/gray.png", None, Box(0.1, 0.2, 0.4, 0.6)),
        ("full/max/0/default.jpg", None, Box(0, 0, 1, 1)),
        ("160,120,320,240/pct:50/90/color.tif", (640, 480), Box(0.25, 0.25, 0.75, 0.75)),
        ("square/200,/0/default.jpg", (400, 200), Box(0.25, 0, 0.75, 1)),
        ("square", (200, 400), Box(0, 0.25, 1, 0.75)),
        ("pct:50,50,100,100/,100/360/bitonal.webp", None, Box(0.5, 0.5, 1, 1)),
    ],
)
def test_iiif_regions_are_read(text: str, dimensions: tuple[int, int] | None, expected: Box) -> None:
    assert expected == from_iiif(text, dimensions)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("half/max/0/default.jpg", "half"),
        ("square/max/0/default.jpg", "square"),
        ("1,2,3,4/max/0/default.jpg", "1,2,3,4"),
        ("1.5,2,3,4/max/0/default.jpg", "1.5,2,3,4"),
        ("pct:1,2,0,4/max/0/default.jpg", "1,2,0,4"),
        ("pct:101,2,3,4/max/0/default.jpg", "101,2,3,4"),
        ("pct:1,2,3/max/0/default.jpg", "1,2,3"),
        ("full/huge/0/default.jpg", "huge"),
        ("full/max/361/default.jpg", "361"),
        ("full/max/left/default.jpg", "left"),
        ("full/max/0/native.jpg", "native.jpg"),
        ("full/max/0/default.exe", "default.exe"),
        ("full/max", "full/max"),
    ],
)
def test_other_image_requests_are_refused(text: str, part: str) -> None:
    with pytest.raises(AddressMalformed) as caught:
        from_iiif(text)

    assert (text, part) == (caught.value.address, caught.value.part)


SENTENCES = "One fish.\nTwo fish.\nRed fish.\n"
QUOTE = {"type": "TextQuoteSelector", "exact": "fish", "prefix": "Two "}


@pytest.mark.parametrize(
    ("annotation", "modality", "expected"),
    [
        ("https://example.org/talk.mp4#t=1,2", AUDIO, TimeSpan(1, 2, AUDIO)),
        ({"target": "https://example.org/book.pdf#page=3"}, DOCUMENT, Pages((3,))),
        ({"target": "https://example.org/book.epub#epubcfi(/6/4!/4)"}, DOCUMENT, Chapter(2)),
        (
            {"target": {"source": "x", "selector": {"type": "FragmentSelector", "value": "page=3"}}},
            DOCUMENT,
            Pages((3,)),
        ),
        ({"source": "x", "selector": QUOTE}, TEXT, Lines(2, 2)),
        (QUOTE, TEXT, Lines(2, 2)),
        ({"type": "TextPositionSelector", "start": 3, "end": 12}, TEXT, Lines(1, 2)),
        ({"selector": [{"type": "CssSelector", "value": "p"}, QUOTE]}, TEXT, Lines(2, 2)),
        (
            {"type": "FragmentSelector", "value": "page=3", "conformsTo": "http://tools.ietf.org/rfc/rfc8118"},
            DOCUMENT,
            Pages((3,)),
        ),
        (
            {"type": "FragmentSelector", "value": "char=3,12", "conformsTo": "https://tools.ietf.org/rfc/rfc5147"},
            TEXT,
            Lines(1, 2),
        ),
        (
            {"type": "FragmentSelector", "value": "epubcfi(/6/4)", "refinedBy": QUOTE},
            DOCUMENT,
            Chapter(2, (14, 18)),
        ),
    ],
)
def test_annotations_of_others_are_read(annotation: Any, modality: Modality, expected: Location) -> None:
    assert expected == from_web_annotation(annotation, modality, Context(text=SENTENCES))


@pytest.mark.parametrize(
    ("annotation", "modality", "reason"),
    [
        ({}, TEXT, "a selector must be an object with a type"),
        ({"selector": []}, TEXT, "the selector is missing"),
        ({"selector": None}, TEXT, "a selector must be an object with a type"),
        ({"type": "SvgSelector", "value": "<svg/>"}, IMAGE, "selectors of this type are not supported"),
        ({"type": "FragmentSelector", "value": "x", "conformsTo": "urn:x"}, TEXT, "fragments of this standard"),
        ({"type": "FragmentSelector", "value": 3}, TEXT, "value of a FragmentSelector must be a string"),
        ({"type": "TextQuoteSelector", "exact": "fish"}, TEXT, "more than once"),
        ({"type": "TextQuoteSelector", "exact": "fowl"}, TEXT, "does not contain"),
        ({"type": "TextQuoteSelector", "exact": ""}, TEXT, "it is empty"),
        ({"type": "TextQuoteSelector"}, TEXT, "valid TextPositionSelector|the text is required to find"),
        ({"type": "TextPositionSelector", "start": 5, "end": 2}, TEXT, "not end before it starts"),
        ({"type": "TextPositionSelector", "start": 5, "end": 999}, TEXT, "beyond the end"),
        ({"type": "TextPositionSelector", "start": 30, "end": 30}, TEXT, "character 31 is beyond the end"),
        ({"type": "TextPositionSelector", "start": "5", "end": 9}, TEXT, "valid TextPositionSelector"),
        (
            {"type": "TextPositionSelector", "start": 5, "end": 9},
            DOCUMENT,
            "character selectors alone are not supported",
        ),
        (
            {"type": "FragmentSelector", "value": "page=3", "refinedBy": QUOTE},
            DOCUMENT,
            "only a selector of one whole chapter",
        ),
        ({"type": "FragmentSelector", "value": "epubcfi(/6/4)", "refinedBy": []}, DOCUMENT, "the selector is missing"),
    ],
)
def test_other_annotations_are_refused(annotation: Any, modality: Modality, reason: str) -> None:
    with pytest.raises(AddressMalformed, match=reason):
        from_web_annotation(annotation, modality, Context(text=SENTENCES))


def test_quotations_and_characters_need_the_text() -> None:
    for selector in (QUOTE, {"type": "TextPositionSelector", "start": 1, "end": 2}):
        with pytest.raises(AddressMalformed, match="the text is required to find"):
            from_web_annotation(selector, TEXT)
