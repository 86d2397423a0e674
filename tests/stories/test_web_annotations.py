"""Web annotations of parts of mapped files, through the SDK."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import citekit
from citekit import CiteKit
from citekit.domain.errors import AddressMalformed, ResourceMissing
from citekit.domain.exchange import Context

SAMPLES = Path(citekit.__file__).parent / "samples"
FILES = ("PDDocument.java", "imageTextN.png", "lena.ogg", "r-intro.pdf", "run.mp4")


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    return CiteKit(home=tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_every_node_of_a_file_converts_to_an_annotation_and_back(kit: CiteKit, name: str) -> None:
    resource_id = kit.ingest(SAMPLES / name).resource_id

    for node in list(kit.map(resource_id).walk())[:200]:
        address = kit.address(resource_id, node.id)
        annotation = kit.to_web_annotation(resource_id, node.id)
        read = kit.from_web_annotation(resource_id, json.loads(json.dumps(annotation)))

        assert ("SpecificResource", str(address).partition("#")[0]) == (annotation["type"], annotation["source"])
        assert str(address) == str(read) or name == "r-intro.pdf"  # an annotation has only the first of several pages
        assert kit.to_web_annotation(str(address)) == annotation


def test_a_standard_fragment_becomes_an_address(kit: CiteKit) -> None:
    picture = kit.ingest(SAMPLES / "imageTextN.png")
    code = kit.ingest(SAMPLES / "PDDocument.java")
    across, down = picture.extent.size or (0, 0)
    annotation = {"target": {"source": "x", "selector": {"type": "TextPositionSelector", "start": 0, "end": 3}}}

    half = kit.from_web_annotation(picture.resource_id, f"x.png#xywh=0,0,{across / 2:g},{down / 2:g}")

    assert f"image://{picture.resource_id}#bbox=0,0,0.5,0.5" == str(half)
    lines = kit.from_web_annotation(code.resource_id, annotation, context=Context(text="a\nb\nc\n"))
    assert f"text://{code.resource_id}#lines=1-2" == str(lines)


def test_an_annotation_of_another_kind_or_resource_is_refused(kit: CiteKit) -> None:
    code = kit.ingest(SAMPLES / "PDDocument.java")

    with pytest.raises(AddressMalformed, match="selectors of this type are not supported"):
        kit.from_web_annotation(code.resource_id, {"selector": {"type": "SvgSelector"}})
    with pytest.raises(ResourceMissing):
        kit.from_web_annotation("nothing", "x#line=1,2")
