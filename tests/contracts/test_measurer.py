"""What everybody promises who measures files, of every format."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from attrs import define, evolve

from citekit.adapters.formats.measuring import RememberingMeasurer
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, LocationOutside
from citekit.domain.evidence import Options
from citekit.domain.extent import Extent
from citekit.domain.locations import Cells, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.ports.measurer import Measurer
from citekit.domain.source import Source
from citekit.settings import Settings
from tests.contracts import small_files

HOW = ("here", "apart", "remembered")
PARTS = {
    "pdf": "pages", "epub": "chapters", "docx": "chapters", "fb2": "chapters", "xlsx": "sheets", "pptx": "pages",
    "cbz": "pages", "text": "lines", "python": "lines", "mp4": "seconds", "wav": "seconds", "png": "size",
}  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return bootstrap(Settings(home=tmp_path_factory.mktemp("home"), parsers="inline"))


@pytest.fixture(scope="module")
def small(app: Container, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Source]:
    folder = tmp_path_factory.mktemp("small")
    return cache(lambda name: app.sources.identify(small_files.make(name, folder)))


@pytest.fixture(scope="module")
def measurers(app: Container, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measurer]:
    here = app.parsers.measurer
    apart = bootstrap(evolve(app.settings, parsers="subprocess"))
    index = Index(tmp_path_factory.mktemp("index"))
    return {"here": here, "apart": apart.extents.inner, "remembered": RememberingMeasurer(here, index)}


@pytest.mark.parametrize(
    ("how", "name"),
    [*(("here", name) for name in small_files.FORMATS), *((how, name) for how in HOW[1:] for name in PARTS)],
)
def test_a_file_reaches_as_far_as_the_local_map_of_it_says(
    app: Container, small: Callable[[str], Source], measurers: dict[str, Measurer], how: str, name: str
) -> None:
    source = small(name)

    found = measurers[how].measure(source)

    assert app.parsers.mapper.map(source, "x").extent == found
    assert found == measurers[how].measure(source)


@pytest.mark.parametrize("name", PARTS)
def test_the_extent_that_a_format_has_is_told(
    small: Callable[[str], Source], measurers: dict[str, Measurer], name: str
) -> None:
    assert getattr(measurers["here"].measure(small(name)), PARTS[name])


def _last(extent: Extent) -> tuple[Location, Location]:
    """(the last place, the one after it): the one a file has, the other it has not."""
    if extent.pages is not None:
        return Pages((extent.pages,)), Pages((extent.pages + 1,))
    if extent.lines is not None:
        return Lines(extent.lines, extent.lines), Lines(extent.lines, extent.lines + 1)
    if extent.chapters is not None:
        return Chapter(len(extent.chapters)), Chapter(len(extent.chapters) + 1)
    if extent.sheets is not None:
        name, rows, columns = extent.sheets[0]
        return Cells(name, (rows, columns)), Cells(f"{name} of nobody", (1, 1))
    assert extent.seconds is not None
    return TimeSpan(0, extent.seconds), TimeSpan(extent.seconds + 1, extent.seconds + 2)


@pytest.mark.parametrize("name", [name for name in PARTS if name != "png"])
def test_the_last_place_is_cut_and_the_one_after_it_is_refused(
    app: Container, small: Callable[[str], Source], measurers: dict[str, Measurer], tmp_path: Path, name: str
) -> None:
    source = small(name)
    inside, beyond = _last(measurers["here"].measure(source))
    if name == "wav":
        inside, beyond = (
            evolve(place, modality=source.format.modality) for place in (inside, beyond) if isinstance(place, TimeSpan)
        )
    extractor = next(each for each in app.extractors if each.forms(source.format, inside))

    extractor.extract(source, inside, Options(), tmp_path / "inside")

    with pytest.raises(LocationOutside):
        extractor.extract(source, beyond, Options(), tmp_path / "beyond")


@define
class Counting:
    """Measures as it was told, and counts how often."""

    extent: Extent
    asked: int = 0

    def measure(self, source: Source) -> Extent:
        self.asked += 1
        if self.asked > 2:
            raise AssertionError(source)
        return self.extent


def test_what_was_measured_is_asked_for_once_by_its_bytes(small: Callable[[str], Source], tmp_path: Path) -> None:
    counting = Counting(Extent(lines=4))
    first, second = small("text"), small("markdown")
    index = Index(tmp_path)

    found = [RememberingMeasurer(counting, index).measure(each) for each in (first, first, second, second)]

    assert ([Extent(lines=4)] * 4, 2) == (found, counting.asked)


def test_what_was_remembered_wrongly_is_measured_again(small: Callable[[str], Source], tmp_path: Path) -> None:
    index, source = Index(tmp_path), small("text")
    remembering = RememberingMeasurer(Counting(Extent(lines=4)), index)
    remembering.measure(source)
    (key,) = index.keys("bounds:")
    index.put(key, {"lines": "many"})

    assert Extent(lines=4) == remembering.measure(source)


def test_a_file_that_is_not_what_it_seems_cannot_be_measured(app: Container, tmp_path: Path) -> None:
    torn = tmp_path / "torn.pdf"
    torn.write_bytes(b"%PDF-1.7\nnothing")

    with pytest.raises(CiteKitError):
        app.extents.measure(app.sources.identify(torn))
