"""The resolvers, models, and addresses of citekit 0.2, beyond what its own tests try."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pymupdf
import pytest

from citekit.compat.address import build_address, parse_address
from citekit.compat.models import Location, Node, ResourceMap
from citekit.compat.resolvers import AudioResolver, DocumentResolver, ImageResolver, TextResolver, VideoResolver
from citekit.domain.errors import AddressMalformed

SAMPLES = Path(str(files("citekit") / "samples"))


def node(**place: object) -> Node:
    return Node(id="a.b/c", type="part", location=Location(**place))  # type: ignore[arg-type]


def test_every_resolver_writes_the_part_into_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    pages = DocumentResolver(str(out)).resolve(node(modality="document", pages=[2, 3]), str(SAMPLES / "r-intro.pdf"))
    with pymupdf.open(pages) as document:  # type: ignore[no-untyped-call]
        assert 2 == document.page_count
    made = {
        pages,
        ImageResolver(str(out)).resolve(node(modality="image", bbox=(0, 0, 0.5, 0.5)), str(SAMPLES / "imageTextN.png")),
        AudioResolver(str(out)).resolve(node(modality="audio", start=1.0, end=2.0), str(SAMPLES / "lena.ogg")),
        VideoResolver(str(out)).resolve(node(modality="video", start=1.0, end=2.0), str(SAMPLES / "run.mp4")),
    }
    lines = TextResolver(str(out)).resolve(node(modality="text", lines=(1, 2)), str(SAMPLES / "PDDocument.java"))
    assert 2 == len(Path(lines).read_text().splitlines())
    assert {Path(each) for each in {*made, lines}} == set(out.iterdir())
    assert "PDDocument_a_b_c_lines_1-2.java" == Path(lines).name
    with pytest.raises(ValueError, match="beyond the end"):
        DocumentResolver(str(out)).resolve(node(modality="document", pages=[900]), str(SAMPLES / "r-intro.pdf"))
    with pytest.raises(FileNotFoundError, match="Source video not found"):
        VideoResolver(str(out)).resolve(node(modality="video", start=1.0, end=2.0), "nothing.mp4")


def test_models_have_the_methods_that_programs_used() -> None:
    one = ResourceMap(
        resource_id="x", type="text", title="X", source_path="/x", nodes=[node(modality="text", lines=(1, 2))]
    )
    assert one == ResourceMap.model_validate_json(one.model_dump_json(indent=2))
    assert one == ResourceMap.model_validate(one)
    copy = one.model_copy(update={"title": "Y"}, deep=True)
    assert ("X", "Y") == (one.title, copy.title)
    assert copy.nodes == one.nodes
    assert copy.nodes[0] is not one.nodes[0]
    assert {"title": "X"} == one.model_dump(include={"title"})
    assert "nodes" not in one.model_dump(exclude={"nodes"})
    with pytest.raises(ValueError, match="must be an object"):
        ResourceMap.model_validate_json("[]")


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("doc://book", {"modality": "document"}),
        ("doc://book#color=red", {"modality": "document"}),
        ("doc://book#pages=3-4&color=red", {"modality": "document", "pages": [3, 4]}),
        ("video://talk#t=01:00-02:00", {"modality": "video", "start": 60.0, "end": 120.0}),
    ],
)
def test_addresses_are_read_as_leniently_as_before(address: str, place: dict[str, object]) -> None:
    assert place == parse_address(address)[1].model_dump(exclude_none=True)


@pytest.mark.parametrize(
    "address", ["doc://book#pages=x", "doc://book#pages=0", "nothing", "x://y", "image://a#bbox=1"]
)
def test_invalid_addresses_are_one_kind_of_error(address: str) -> None:
    with pytest.raises(AddressMalformed):
        parse_address(address)


def test_the_former_form_of_times_is_written_on_request() -> None:
    place = Location(modality="video", start=192.0, end=3725.0)
    assert "video://lecture#t=192-3725" == build_address("lecture", place)
    assert "video://lecture#t=03:12-01:02:05" == build_address("lecture", place, clock=True)
    assert place == parse_address("video://lecture#t=03:12-01:02:05")[1]
    half = Location(modality="video", start=59.5, end=192.5)
    assert half == parse_address(build_address("lecture", half, clock=True))[1]
