from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageOps
from PIL.PngImagePlugin import PngInfo

from citekit.adapters.formats.comic.page_views import ComicPageViews
from citekit.adapters.formats.image.animation import animation_duration
from citekit.adapters.formats.image.outliner import ImageOutliner, RecognizedText, _position
from citekit.adapters.formats.image.page_views import ImagePageViews
from citekit.adapters.formats.image.regions import REGION_LIMIT, find_regions
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.adapters.formats.shared.outline import Outline, make_nodes
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.detection import detect
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, LocationOutside, SourceUnsupported
from citekit.domain.formats import BY_SUFFIX
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


def descendants(outline: Outline) -> list[Node]:
    (whole,) = make_nodes(outline)
    assert Box(0, 0, 1, 1) == whole.location
    return list(whole.walk())[1:]


def assert_nested(outline: Outline) -> None:
    found = [node for root in make_nodes(outline) for node in root.walk()]
    assert len({node.id for node in found}) == len(found) <= REGION_LIMIT + 1
    assert all(node.location.contains(child.location) for node in found for child in node.children)


def page(*boxes: tuple[int, int, int, int], size: tuple[int, int] = (1000, 800)) -> Image.Image:
    """Return a white page with striped blocks. Stripes have as much detail as text."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for left, top, right, bottom in boxes:
        for x in range(left, right, 10):
            draw.rectangle((x, top, x + 4, bottom - 1), fill="black")
    return picture


def close(box: Box, expected: tuple[float, float, float, float]) -> bool:
    return all(abs(a - b) <= 0.02 for a, b in zip(box.corners, expected, strict=True))


def test_of_too_many_regions_the_largest_are_kept_without_their_parts_and_in_reading_order() -> None:
    boxes: list[tuple[int, int, int, int]] = []
    for number in range(REGION_LIMIT + 2):
        top = 8 + 16 * number
        if number % 3 == 1:
            boxes += [(20, top, 300, top + 4), (700, top, 980, top + 4)]
        else:
            boxes.append((20, top, 800 + 2 * number, top + 4))

    found = find_regions(page(*boxes, size=(1000, 1000)).convert("L"))

    assert REGION_LIMIT == len(found)
    assert not any(region.parts for region in found)
    tops = [region.box[1] for region in found]
    assert tops == sorted(tops)
    assert 20 < tops[0]  # the first regions are the smallest


def test_separate_blocks_are_regions_at_their_positions(outlined: Outlined) -> None:
    outline = outlined(page((50, 50, 950, 200), (50, 400, 450, 750), (600, 400, 950, 750)))

    top, bottom, left, right = (node.location for node in descendants(outline))

    assert all(isinstance(each, Box) for each in (top, bottom, left, right))
    assert close(top, (0.05, 0.0625, 0.95, 0.25))  # type: ignore[arg-type]
    assert close(left, (0.05, 0.5, 0.45, 0.9375))  # type: ignore[arg-type]
    assert close(right, (0.6, 0.5, 0.95, 0.9375))  # type: ignore[arg-type]
    assert bottom.contains(left)
    assert_nested(outline)


def test_titles_state_the_position_of_a_region_and_summaries_its_size(outlined: Outlined) -> None:
    outline = outlined(page((50, 50, 350, 250), (650, 550, 950, 750)))

    first, second = descendants(outline)

    assert first.title.startswith("Top left ")
    assert second.title.startswith("Bottom right ")
    assert first.summary is not None
    assert "% of the picture" in first.summary


def test_lines_of_text_are_distinguished_from_pictures(outlined: Outlined) -> None:
    picture = page()
    draw = ImageDraw.Draw(picture)
    for row in range(8):
        draw.text((60, 60 + 35 * row), "The quick brown fox jumps over the lazy dog again", fill="black", font_size=24)
    noise = Image.effect_noise((700, 280), 120).convert("RGB")
    picture.paste(noise, (60, 460))

    kinds = [node.type for node in descendants(outlined(picture)) if not node.children]

    assert ["text_region", "picture"] == kinds


def sheet() -> Image.Image:
    """Return a page with a heading, two columns of paragraphs, and a picture below the second column."""
    picture = Image.new("RGB", (1000, 800), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((60, 30), "A report about bridges", fill="black", font_size=48)
    words = "Stones and timber under seven bridges"
    for column, rows in ((60, (0, 1, 2, 3, 5, 6, 7)), (560, (0, 1, 2, 3))):
        for row in rows:
            draw.text((column, 150 + 30 * row), words, fill="black", font_size=20)
    picture.paste(Image.effect_noise((360, 300), 120).convert("RGB"), (560, 330))
    return picture


def test_a_sheet_is_a_heading_and_columns_of_paragraphs_and_pictures_in_reading_order(outlined: Outlined) -> None:
    outline = outlined(sheet())

    leaves = [node for node in descendants(outline) if not node.children]
    places = [(node.type, round(node.location.x1, 1), round(node.location.y1, 1)) for node in leaves]  # type: ignore[union-attr]

    assert [
        ("heading", 0.1, 0.1),
        ("text_region", 0.1, 0.2),
        ("text_region", 0.1, 0.4),
        ("text_region", 0.6, 0.2),
        ("picture", 0.6, 0.4),
    ] == places
    assert_nested(outline)


@pytest.mark.long
def test_dark_slides_grain_and_frames_do_not_change_the_regions(outlined: Outlined) -> None:
    light = sheet()
    framed = light.copy()
    ImageDraw.Draw(framed).rectangle((20, 130, 980, 780), outline="black", width=2)
    grain = Image.effect_noise(light.size, 14).convert("RGB")
    kinds = [node.type for node in descendants(outlined(light)) if not node.children]

    for variant in (ImageOps.invert(light), framed, Image.blend(light, grain, 0.3)):
        assert kinds == [node.type for node in descendants(outlined(variant)) if not node.children]


class SheetReader:
    """An OCR reader that knows the text of the sheet."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []

    def lines(self, image: Image.Image) -> list[OcrLine]:
        self.sizes.append(image.size)
        return [
            OcrLine("A report about bridges", Box(0.06, 0.04, 0.55, 0.1), 0.99),
            OcrLine("Stones and timber", Box(0.06, 0.19, 0.4, 0.215), 0.99),
            OcrLine("under seven bridges", Box(0.06, 0.23, 0.4, 0.255), 0.98),
        ]


def test_regions_are_named_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    sheet().save(path)

    outline = ImageOutliner(SheetReader()).outline(source_at(path), silent)

    assert "A report about bridges" == outline.title
    titles = [node.title for node in descendants(outline) if not node.children]
    assert ["A report about bridges", "Stones and timber under seven bridges", "Middle left text"] == titles[:3]
    assert 3 == outline.facts["text_lines"]
    assert_nested(outline)


def test_unread_text_is_noted(outlined: Outlined) -> None:
    assert "citekit-evidence[ocr]" in outlined(sheet()).notes[0]


@pytest.mark.long
def test_photographs_are_not_read_and_the_size_for_ocr_is_limited(tmp_path: Path) -> None:
    sign = SheetReader()
    Image.effect_noise((300, 200), 120).save(tmp_path / "photo.png")
    sheet().resize((2400, 1920), Image.Resampling.NEAREST).save(tmp_path / "large.png")

    for name in ("photo.png", "large.png"):
        ImageOutliner(sign).outline(source_at(tmp_path / name), silent)

    assert [(1920, 1536)] == sign.sizes


def test_a_photograph_has_no_regions(outlined: Outlined) -> None:
    shades = Image.radial_gradient("L").resize((500, 400))
    photo = Image.blend(shades, Image.effect_noise((500, 400), 90), 0.3)
    photo.paste(255, (0, 180, 500, 220))

    assert [] == descendants(outlined(photo))


def test_a_tiny_or_blank_picture_is_one_node(outlined: Outlined) -> None:
    assert [] == descendants(outlined(Image.effect_noise((20, 20), 120)))


def test_a_crowded_picture_has_a_limited_number_of_regions(outlined: Outlined) -> None:
    cells = [(x, y, x + 40, y + 30) for x in range(20, 960, 70) for y in range(20, 760, 60)]

    assert_nested(outlined(page(*cells)))


def test_dimensions_are_upright(outlined: Outlined) -> None:
    exif = Image.Exif()
    exif[274] = 6

    outline = outlined(page((50, 50, 300, 300)), "a.jpg", exif=exif)

    assert [800, 1000] == outline.facts["dimensions"]
    assert (800, 1000) == outline.extent.size
    (region,) = descendants(outline)
    assert region.title.startswith("Top right ")


def test_frames_are_counted(outlined: Outlined) -> None:
    frames = [page((50, 50, 300, 300 + 20 * each)) for each in range(3)]

    outline = outlined(frames[0], "a.gif", save_all=True, append_images=frames[1:])

    assert 3 == outline.facts["frames"]
    assert ("This picture has 3 frames; the map shows the first one.",) == tuple(outline.notes)


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp"])
def test_the_duration_of_an_animation_is_the_sum_of_its_delays(name: str, outlined: Outlined) -> None:
    frames = [Image.new("RGB", (20, 20), shade) for shade in ("red", "green", "blue")]

    outline = outlined(frames[0], name, save_all=True, append_images=frames[1:], duration=[100, 250, 1000])

    assert 1.35 == outline.facts["animation_seconds"]


def test_the_pages_of_a_tiff_are_called_pages(outlined: Outlined) -> None:
    pages = [Image.new("L", (20, 20), shade) for shade in (0, 100)]

    outline = outlined(pages[0], "a.tif", save_all=True, append_images=pages[1:])

    assert "This picture has 2 pages; the map shows the first one." in outline.notes


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
@given(data=st.binary(max_size=200))
def test_a_still_picture_has_no_duration(kind: str, data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "animation"
    path.write_bytes(data)

    length = animation_duration(path, kind)

    assert length is None or length > 0


@pytest.mark.parametrize(("top", "position"), [(0.0, "Top center"), (0.4, "Center")])
def test_positions_are_in_american_english(top: float, position: str) -> None:
    assert position == _position(Box(0.4, top, 0.6, top + 0.2))


def test_metadata_has_title_time_and_camera_but_no_gps_position(outlined: Outlined) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "ACME", "ACME Eye 3"
    exif.get_ifd(0x8769)[0x9003] = "2004:08:02 12:33:00"
    exif.get_ifd(0x8825)[1] = "N"
    text = PngInfo()
    text.add_text("Title", "The bridge")
    text.add_text("Description", "Seen from the north")

    photo, drawing = outlined(sheet(), "a.jpg", exif=exif), outlined(sheet(), "a.png", pnginfo=text)

    assert ("ACME Eye 3", "2004-08-02T12:33:00") == (photo.facts["camera"], photo.facts["taken"])
    assert not any("gps" in name.lower() for name in photo.facts)
    assert ("The bridge", "Seen from the north") == (drawing.title, drawing.facts["description"])


@pytest.mark.parametrize("size", [(1, 1), (3, 2000), (2000, 3), (64, 64)])
def test_pictures_of_odd_sizes_are_mapped(size: tuple[int, int], outlined: Outlined) -> None:
    assert_nested(outlined(Image.effect_noise(size, 60)))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F", "I"])
def test_every_mode_is_read(mode: str, outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250), (650, 550, 950, 750)).convert("L")
    name = "a.png" if mode in ("1", "L", "LA", "P", "RGBA", "I;16") else "a.tif"

    outline = outlined(picture.convert("I").convert(mode) if mode == "I;16" else picture.convert(mode), name)

    assert 2 == len(descendants(outline))
    assert mode == outline.facts["mode"]


def test_transparent_areas_are_empty(outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250)).convert("RGBA")
    hidden = page((0, 0, 1000, 800)).convert("RGBA")
    hidden.putalpha(0)
    hidden.paste(picture.crop((50, 50, 350, 250)), (50, 50))

    (region,) = descendants(outlined(hidden))

    assert isinstance(region.location, Box)
    assert close(region.location, (0.05, 0.0625, 0.35, 0.3125))


def test_the_same_picture_gives_the_same_outline(outlined: Outlined) -> None:
    picture = page((50, 50, 350, 250), (650, 550, 950, 750))

    assert outlined(picture) == outlined(picture)


def test_a_damaged_picture_gives_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.effect_noise((200, 200), 100).save(path)
    path.write_bytes(path.read_bytes()[:10_000])

    with pytest.raises(SourceUnsupported, match=r"a\.png is damaged or truncated"):
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


def test_words_of_an_image_are_recognized_once_and_lie_on_their_line(tmp_path: Path) -> None:
    sign, index = SheetReader(), Index(tmp_path / "index")
    sheet().save(tmp_path / "sign.png")
    views = ImagePageViews(sign, index)

    words = views.words(source_at(tmp_path / "sign.png"), 1)

    assert words == views.words(source_at(tmp_path / "sign.png"), 1)
    assert 1 == len(sign.sizes)
    assert words
    assert [] == list(ImagePageViews().words(source_at(tmp_path / "sign.png"), 1))
    lines = RecognizedText.from_lines(SheetReader().lines(sheet())).lines
    assert " ".join(line.text for line in lines).split() == [word.text for word in words]
    for word in words:
        left, top, right, bottom = lines[word.line].box.corners
        assert left - 1e-9 <= word.box[0] < word.box[2] <= right + 1e-9
        assert (top, bottom) == (word.box[1], word.box[3])


def test_a_tiff_file_has_pages_and_an_animation_has_one(tmp_path: Path) -> None:
    pages = [Image.new("RGB", (40, 40), "white"), sheet()]
    for name in ("scan.tiff", "moves.gif"):
        pages[0].save(tmp_path / name, save_all=True, append_images=pages[1:])
    scan, animation = source_at(tmp_path / "scan.tiff"), source_at(tmp_path / "moves.gif")
    reader = SheetReader()
    views = ImagePageViews(reader)

    assert [page.size for page in pages] == [(size.width, size.height) for size in views.sizes(scan)]
    assert all(views.words(scan, page) for page in (1, 2))
    assert [page.size for page in pages] == reader.sizes
    assert 1 == len(views.sizes(animation))
    for source, page in ((scan, 3), (scan, 0), (animation, 2)):
        with pytest.raises(LocationOutside):
            views.picture(source, page, 100)


def test_words_of_a_page_of_a_comic_are_those_of_its_image(tmp_path: Path) -> None:
    sheet().save(tmp_path / "2.png")
    Image.new("RGB", (40, 40), "white").save(tmp_path / "1.png")
    with zipfile.ZipFile(tmp_path / "comic.cbz", "w") as made:
        for name in ("1.png", "2.png"):
            made.write(tmp_path / name, name)
    page = source_at(tmp_path / "comic.cbz")

    words = ComicPageViews(SheetReader()).words(page, 2)

    assert list(ImagePageViews(SheetReader()).words(source_at(tmp_path / "2.png"), 1)) == list(words)
    assert "bridges" in [word.text for word in words]
    assert not ComicPageViews().words(page, 2)
