from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.domain.address import Address, format_address, parse_address
from citekit.domain.errors import AddressMalformed, ResourceIdRefused
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.locations.pages import PAGES_LIMIT
from citekit.domain.modality import Modality
from citekit.domain.numbers import WHOLE_LIMIT
from tests.strategies import addresses

AUDIO = Modality.AUDIO


@given(addresses())
@example(Address("x", Pages.span(1, PAGES_LIMIT)))
@example(Address("x", Pages.span(WHOLE_LIMIT - PAGES_LIMIT + 1, WHOLE_LIMIT)))
@example(Address("x", Pages(tuple(range(1, 2 * PAGES_LIMIT, 2)))))
@example(Address("x", Lines(1, WHOLE_LIMIT)))
@example(Address("x", Chapter(WHOLE_LIMIT, (0, WHOLE_LIMIT))))
@example(Address("x", TimeSpan(5e-324, 1.7976931348623157e308)))
def test_an_address_reads_back_as_itself(address: Address) -> None:
    text = format_address(address)

    assert address == parse_address(text)
    assert text.isascii() or isinstance(address.location, Virtual)


@given(addresses(), addresses())
def test_two_addresses_are_equal_exactly_when_their_texts_are(one: Address, other: Address) -> None:
    assert (one == other) == (str(one) == str(other))


@pytest.mark.parametrize(
    ("text", "location", "canonical"),
    [
        ("doc://book#pages=12-15", Pages.span(12, 15), None),
        ("doc://book#pages=3,5-7", Pages((3, 5, 6, 7)), None),
        ("doc://book#pages=12&bbox=0.1,0.2,0.9,0.4", Pages((12,), Box(0.1, 0.2, 0.9, 0.4)), None),
        ("doc://book#chapter=7", Chapter(7), None),
        ("doc://book#chapter=3-9", Chapter(3, last=9), None),
        ("doc://book#chapter=7&chars=120-980", Chapter(7, (120, 980)), None),
        ("video://book#t=145.5-200", TimeSpan(145.5, 200), None),
        ("audio://book#t=60-120", TimeSpan(60, 120, AUDIO), None),
        ("image://book#bbox=0.2,0.3,0.8,0.7", Box(0.2, 0.3, 0.8, 0.7), None),
        ("text://book#lines=10-50", Lines(10, 50), None),
        ("virtual://book", Virtual("virtual://book"), None),
        # read leniently
        ("doc://book#page=12", Pages((12,)), "doc://book#pages=12"),
        ("doc://book#pages=7,5-6,3,5", Pages((3, 5, 6, 7)), "doc://book#pages=3,5-7"),
        ("doc://book#bbox=0,0,1,.5&pages=1", Pages((1,), Box(0, 0, 1, 0.5)), "doc://book#pages=1&bbox=0,0,1,0.5"),
        ("DOC://book#pages=007", Pages((7,)), "doc://book#pages=7"),
        ("doc://book#pages=3%2C5", Pages((3, 5)), "doc://book#pages=3,5"),
        ("text://book#line=9", Lines(9, 9), "text://book#lines=9"),
        ("text://book#lines=9-9", Lines(9, 9), "text://book#lines=9"),
        ("video://book#t=145.50,200.0", TimeSpan(145.5, 200), "video://book#t=145.5-200"),
        ("video://book#t=2:25.5-3:20", TimeSpan(145.5, 200), "video://book#t=145.5-200"),
        ("video://book#t=00:02:25.5,1:00:00", TimeSpan(145.5, 3600), "video://book#t=145.5-3600"),
        ("video://book#t=npt:10,20", TimeSpan(10, 20), "video://book#t=10-20"),
        ("video://book#t=,20", TimeSpan(0, 20), "video://book#t=0-20"),
        ("audio://book#t=10", TimeSpan(10, None, AUDIO), "audio://book#t=10"),
        ("image://book#xywh=percent:10,20,30,40", Box(0.1, 0.2, 0.4, 0.6), "image://book#bbox=0.1,0.2,0.4,0.6"),
        ("image://book#xywh=0.1,0.2,0.3,0.4", Box(0.1, 0.2, 0.4, 0.6), "image://book#bbox=0.1,0.2,0.4,0.6"),
        ("image://book#xywh=percent:33.34,0,66.67,100", Box(0.3334, 0, 1, 1), "image://book#bbox=0.3334,0,1,1"),
        ("virtual://book/any/where?q=1#x", Virtual("virtual://book/any/where?q=1#x"), None),
        ("virtual://book#address=urn%3Ax", Virtual("urn:x"), "virtual://book#address=urn%3Ax"),
    ],
)
def test_usual_spellings_are_read_and_written_in_one_way(text: str, location: Location, canonical: str | None) -> None:
    address = parse_address(text)

    assert Address("book", location) == address
    assert (canonical or text) == str(address)
    assert str(address) == str(parse_address(str(address)))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("book#pages=1", "book#pages=1"),
        ("ftp://book#pages=1", "ftp"),
        ("doc://book", "doc://book"),
        ("doc://book#", "doc://book#"),
        ("doc://#pages=1", "doc://#pages=1"),
        ("doc://a/b#pages=1", "a/b"),
        ("doc://..#pages=1", ".."),
        ("doc://%2e%2e%2fetc#pages=1", "%2e%2e%2fetc"),
        ("doc://a%00b#pages=1", "a%00b"),
        ("doc://a%ffb#pages=1", "a%ffb"),
        ("doc://a\u202eb#pages=1", "a\u202eb"),
        ("doc://book#pages", "pages"),
        ("doc://book#pages=", "pages="),
        ("doc://book#pages=0", "pages=0"),
        ("doc://book#pages=15-12", "15-12"),
        ("doc://book#pages=-3", "-3"),
        ("doc://book#pages=3-", "3-"),
        ("doc://book#pages=3,", "3,"),
        ("doc://book#pages=1.5", "1.5"),
        ("doc://book#pages=+1", "+1"),
        ("doc://book#pages=١", "١"),
        ("doc://book#pages=1-99999999999", "1-99999999999"),
        ("doc://book#pages=1&pages=2", "pages=2"),
        ("doc://book#pages=1&page=2", "page=2"),
        ("doc://book#pages=1&zoom=3", "zoom"),
        ("doc://book#pages=1-2&bbox=0,0,1,1", "pages=1-2&bbox=0,0,1,1"),
        ("doc://book#pages=1&bbox=0,0,1", "0,0,1"),
        ("doc://book#pages=1&bbox=1,0,0,1", "1,0,0,1"),
        ("doc://book#pages=1&bbox=0,0,1,2", "0,0,1,2"),
        ("doc://book#pages=1&bbox=0,0,nan,1", "0,0,nan,1"),
        ("doc://book#bbox=0,0,1,1", "bbox"),
        ("doc://book#chapter=0", "chapter=0"),
        ("doc://book#chapter=9-3", "chapter=9-3"),
        ("doc://book#chapter=x", "x"),
        ("doc://book#chapter=7&chars=5", "5"),
        ("doc://book#chapter=7&chars=9-5", "chapter=7&chars=9-5"),
        ("doc://book#chapter=7-8&chars=1-5", "chapter=7-8&chars=1-5"),
        ("doc://book#chapter=7&pages=1", "pages"),
        ("doc://book#chars=1-5", "chars"),
        ("doc://book#t=1-5", "t"),
        ("video://book#t=200-145", "t=200-145"),
        ("video://book#t=5-5", "t=5-5"),
        ("video://book#t=-5", "-5"),
        ("video://book#t=10-", "10-"),
        ("video://book#t=10,", "10,"),
        ("video://book#t=nan", "nan"),
        ("video://book#t=inf", "inf"),
        ("video://book#t=1e3", "1e3"),
        ("video://book#t=1:75", "1:75"),
        ("video://book#t=" + "9" * 1_000_000 + ":00:00", "9" * 100),
        ("video://book#t=" + "9" * 13 + ":00:00", "9" * 13 + ":00:00"),
        ("video://book#t=1:75:00", "1:75:00"),
        ("video://book#t=1-2-3", "2-3"),
        ("video://book#t=" + "9" * 400, "9" * 100),
        ("video://book#pages=1", "pages"),
        ("image://book#xywh=10,20,30,40", "10,20,30,40"),
        ("image://book#xywh=pixel:10,20,30,40", "pixel:10,20,30,40"),
        ("image://book#xywh=cm:1,2,3,4", "cm"),
        ("image://book#xywh=percent:90,0,20,10", "90,0,20,10"),
        ("image://book#xywh=percent:90.00,0,10.02,10", "90.00,0,10.02,10"),
        ("image://book#xywh=0.5,0.5,0.6,0.6", "0.5,0.5,0.6,0.6"),
        ("image://book#bbox=0.2,0.3,0.8,0.7&xywh=percent:1,1,1,1", "xywh=percent:1,1,1,1"),
        ("text://book#lines=0-3", "lines=0-3"),
        ("text://book#lines=9-3", "lines=9-3"),
        ("text://book#lines=1-2,4", "1-2,4"),
        ("virtual://", "virtual://"),
        ("virtual://book#address=", "address="),
        ("virtual://book#address=%0a", "address=%0a"),
        ("virtual://book#address=%ff", "address=%ff"),
    ],
)
def test_anything_else_is_refused_and_the_offending_part_is_shown(text: str, part: str) -> None:
    with pytest.raises(AddressMalformed) as caught:
        parse_address(text)

    assert text == caught.value.address
    assert part in caught.value.part
    assert part in text
    assert repr(text[:150])[1:-1] in str(caught.value)
    assert repr(part)[1:-1] in str(caught.value)


def test_an_address_without_a_place_names_the_parameters_that_it_can_have() -> None:
    with pytest.raises(AddressMalformed, match=r"doc:// .* one of the parameters pages, chapter, or sheet"):
        parse_address("doc://book#chars=1-5")
    with pytest.raises(AddressMalformed, match="text:// addresses must have the parameter lines"):
        parse_address("text://book#pages=1")


@given(st.text(max_size=40) | st.text("dovc:/#=&,-.0123pagest%", max_size=40).map("doc://b#{}".format))
def test_any_text_is_read_or_refused_and_what_is_read_is_stable(text: str) -> None:
    try:
        address = parse_address(text)
    except AddressMalformed:
        return

    assert address == parse_address(str(address))


def test_an_id_that_cannot_be_stored_makes_no_address() -> None:
    with pytest.raises(ResourceIdRefused):
        Address("a/b", Pages((1,)))
