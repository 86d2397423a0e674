from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from citekit.adapters.mapping.local.image import ImageOutliner
from citekit.adapters.mapping.local.image_regions import REGION_LIMIT
from citekit.adapters.mapping.local.outline import Outline, plant
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, SourceUnsupported
from citekit.domain.formats import BY_SUFFIX, detect
from citekit.domain.locations import Box
from citekit.domain.node import Node
from citekit.domain.progress import silent
from citekit.domain.source import Source

Outlined = Callable[..., Outline]


def source_at(path: Path) -> Source:
    data = path.read_bytes()
    return Source(path, Digest.of_bytes(data), len(data), detect(path.name, data[:8192]) or BY_SUFFIX[".png"])


@pytest.fixture
def outlined(tmp_path: Path) -> Outlined:
    def outline(picture: Image.Image, name: str = "a.png", **options: Any) -> Outline:
        path = tmp_path / name
        picture.save(path, **options)
        return ImageOutliner().outline(source_at(path), silent)

    return outline


def below(outline: Outline) -> list[Node]:
    (whole,) = plant(outline)
    assert Box(0, 0, 1, 1) == whole.location
    return list(whole.walk())[1:]


def assert_nested(outline: Outline) -> None:
    found = [node for root in plant(outline) for node in root.walk()]
    assert len({node.id for node in found}) == len(found) <= REGION_LIMIT + 1
    assert all(node.location.contains(child.location) for node in found for child in node.children)


def page(*boxes: tuple[int, int, int, int], size: tuple[int, int] = (1000, 800)) -> Image.Image:
    """A white page with striped blocks: stripes are as detailed as text."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for left, top, right, bottom in boxes:
        for x in range(left, right, 10):
            draw.rectangle((x, top, x + 4, bottom - 1), fill="black")
    return picture


def close(box: Box, expected: tuple[float, float, float, float]) -> bool:
    return all(abs(a - b) <= 0.02 for a, b in zip(box.corners, expected, strict=True))


def test_blocks_apart_are_regions_where_they_are(outlined: Outlined) -> None:
    outline = outlined(page((50, 50, 950, 200), (50, 400, 450, 750), (600, 400, 950, 750)))

    top, bottom, left, right = (node.location for node in below(outline))

    assert all(isinstance(each, Box) for each in (top, bottom, left, right))
    assert close(top, (0.05, 0.0625, 0.95, 0.25))  # type: ignore[arg-type]
    assert close(left, (0.05, 0.5, 0.45, 0.9375))  # type: ignore[arg-type]
    assert close(right, (0.6, 0.5, 0.95, 0.9375))  # type: ignore[arg-type]
    assert bottom.contains(left)
    assert_nested(outline)


def test_titles_say_where_a_region_is_and_summaries_how_large(outlined: Outlined) -> None:
    outline = outlined(page((50, 50, 350, 250), (650, 550, 950, 750)))

    first, second = below(outline)

    assert first.title.startswith("Top left ")
    assert second.title.startswith("Bottom right ")
    assert first.summary is not None
    assert "% of the picture" in first.summary


def test_lines_of_text_are_told_from_pictures(outlined: Outlined) -> None:
    picture = page()
    draw = ImageDraw.Draw(picture)
    for row in range(8):
        draw.text((60, 60 + 35 * row), "The quick brown fox jumps over the lazy dog again", fill="black", font_size=24)
    noise = Image.effect_noise((700, 280), 120).convert("RGB")
    picture.paste(noise, (60, 460))

    kinds = [node.type for node in below(outlined(picture)) if node.id.count(".") == 1]

    assert ["text_region", "picture"] == kinds


def test_a_picture_without_structure_is_quartered_and_it_says_so(outlined: Outlined) -> None:
    outline = outlined(Image.effect_noise((300, 200), 120))

    assert 4 == len(below(outline))
    assert "quarters" in outline.notes[0]
    assert_nested(outline)


def test_a_tiny_or_blank_picture_is_one_node(outlined: Outlined) -> None:
    assert [] == below(outlined(Image.effect_noise((20, 20), 120)))


def test_a_crowded_picture_has_a_bounded_number_of_regions(outlined: Outlined) -> None:
    cells = [(x, y, x + 40, y + 30) for x in range(20, 960, 70) for y in range(20, 760, 60)]

    assert_nested(outlined(page(*cells)))


def test_dimensions_are_upright(outlined: Outlined) -> None:
    exif = Image.Exif()
    exif[274] = 6

    outline = outlined(page((50, 50, 300, 300)), "a.jpg", exif=exif)

    assert [800, 1000] == outline.facts["dimensions"]
    assert (800, 1000) == outline.bounds.size
    (region,) = below(outline)
    assert region.title.startswith("Top right ")


def test_frames_are_counted(outlined: Outlined) -> None:
    frames = [page((50, 50, 300, 300 + 20 * each)) for each in range(3)]

    outline = outlined(frames[0], "a.gif", save_all=True, append_images=frames[1:])

    assert 3 == outline.facts["frames"]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F", "I"])
def test_every_mode_is_read(mode: str, outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250), (650, 550, 950, 750)).convert("L")
    name = "a.png" if mode in ("1", "L", "LA", "P", "RGBA", "I;16") else "a.tif"

    outline = outlined(picture.convert("I").convert(mode) if mode == "I;16" else picture.convert(mode), name)

    assert 2 == len(below(outline))
    assert mode == outline.facts["mode"]


def test_what_is_transparent_is_empty(outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250)).convert("RGBA")
    hidden = page((0, 0, 1000, 800)).convert("RGBA")
    hidden.putalpha(0)
    hidden.paste(picture.crop((50, 50, 350, 250)), (50, 50))

    (region,) = below(outlined(hidden))

    assert isinstance(region.location, Box)
    assert close(region.location, (0.05, 0.0625, 0.35, 0.3125))


def test_the_same_picture_gives_the_same_outline(outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250), (650, 550, 950, 750))

    assert outlined(picture) == outlined(picture)


def test_a_broken_picture_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.effect_noise((200, 200), 100).save(path)
    path.write_bytes(path.read_bytes()[:10_000])

    with pytest.raises(SourceUnsupported, match=r"a\.png is broken or cut off"):
        ImageOutliner().outline(source_at(path), silent)


@pytest.mark.corpus
def test_every_picture_of_the_corpus_is_mapped_or_refused_with_one_clear_error(corpus: Path) -> None:
    mapped, refused = 0, {}
    for path in sorted((corpus / "image").iterdir()):
        try:
            outline = ImageOutliner().outline(source_at(path), silent)
        except CiteKitError as error:
            refused[path.name] = str(error)
            continue
        mapped += 1
        assert_nested(outline)

    assert (41, 7) == (mapped, len(refused))
    assert all(name in error for name, error in refused.items())
