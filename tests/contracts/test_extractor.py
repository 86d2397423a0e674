"""What every extractor promises: of every format, of some nodes of a real map."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from benchmarks.second_opinion import faults
from citekit.container import Container, bootstrap
from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.errors import LocationOutside
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.extractor import Extractor
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from tests.made_files import NAMES, make_all


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return bootstrap(home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def made(app: Container, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Source, ResourceMap]]:
    files = make_all(tmp_path_factory.mktemp("files"))
    return {name: (app.sources.identify(path), app.ingest(path).resource_map) for name, path in files.items()}


def some(resource_map: ResourceMap) -> list[Location]:
    """The first, a middle and the last place of a map; clips are kept short."""
    places = [node.location for node in resource_map.walk()]
    chosen = {str(Address("x", place)): place for place in (places[0], places[len(places) // 2], places[-1])}
    return [_short(place) for place in chosen.values()]


def _short(place: Location) -> Location:
    match place:
        case TimeSpan(start=start):
            return evolve(place, end=start + 1.25).clamp(Extent(seconds=place.end))
        case Pages(numbers=numbers):
            return Pages(numbers[:3])
    return place


BEYOND: dict[Modality, tuple[Location, ...]] = {
    Modality.DOCUMENT: (Pages((100_000,)), Chapter(100_000)),
    Modality.TEXT: (Lines(10_000_000, 10_000_001),),
    Modality.VIDEO: (TimeSpan(1e6, 1e6 + 1),),
    Modality.AUDIO: (TimeSpan(1e6, 1e6 + 1, Modality.AUDIO),),
}


@pytest.mark.parametrize("name", NAMES)
class TestExtractor:
    @pytest.fixture
    def source(self, made: dict[str, tuple[Source, ResourceMap]], name: str) -> Source:
        return made[name][0]

    @pytest.fixture
    def places(self, made: dict[str, tuple[Source, ResourceMap]], name: str) -> list[Location]:
        return some(made[name][1])

    def test_native_is_to_be_had_of_every_place(self, app: Container, source: Source, places: list[Location]) -> None:
        assert all(Form.NATIVE in app.resolve.forms(source.format, place) for place in places)

    def test_every_form_has_the_extent_that_was_asked_for(
        self, app: Container, source: Source, places: list[Location], tmp_path: Path
    ) -> None:
        for place in places[:1]:
            for form in app.resolve.forms(source.format, place):
                if isinstance(place, Pages) and len(place.numbers) > 1 and form is Form.PNG:
                    continue
                if isinstance(place, TimeSpan) and form in (Form.TEXT, Form.VTT, Form.SRT):
                    continue  # these recordings have no words
                target = tmp_path / form.value
                done = cut(app, source, place, Options(form), target)

                assert target.stat().st_size
                assert (done.suffix[:1], "/" in done.media_type) in ((".", True), ("", False))
                assert_same_extent(place, done, form)

    def test_a_second_tool_confirms_what_was_cut(
        self,
        app: Container,
        source: Source,
        places: list[Location],
        made: dict[str, tuple[Source, ResourceMap]],
        name: str,
    ) -> None:
        for place in places:
            evidence = app.resolve(Address(made[name][1].resource_id, place))

            assert faults(evidence, source) is None

    def test_the_same_request_gives_the_same_bytes(
        self, app: Container, source: Source, places: list[Location], tmp_path: Path
    ) -> None:
        for number, place in enumerate(places):
            first, second = tmp_path / f"{number}a", tmp_path / f"{number}b"
            cut(app, source, place, Options(), first)
            cut(app, source, place, Options(), second)

            assert Digest.of_bytes(first.read_bytes()) == Digest.of_bytes(second.read_bytes())

    def test_the_source_is_only_read(
        self, app: Container, source: Source, places: list[Location], tmp_path: Path
    ) -> None:
        before = source.path.stat().st_mtime_ns

        cut(app, source, places[0], Options(), tmp_path / "x")

        assert (before, source.digest) == (source.path.stat().st_mtime_ns, Digest.of_bytes(source.path.read_bytes()))

    def test_a_place_beyond_the_end_is_outside(self, app: Container, source: Source, tmp_path: Path) -> None:
        for place in BEYOND.get(source.format.modality, ()):
            if app.resolve.forms(source.format, place):
                with pytest.raises(LocationOutside):
                    cut(app, source, place, Options(), tmp_path / "x")

    def test_a_place_of_another_kind_is_nobody_s_work(self, app: Container, source: Source) -> None:
        others: list[Location] = [Pages((1,)), Lines(1, 1), Box(0, 0, 1, 1), TimeSpan(0, 1), Chapter(1)]
        for place in others:
            if type(place) is not TimeSpan and place.modality is not source.format.modality:
                assert [] == app.resolve.forms(source.format, place)


def cut(app: Container, source: Source, place: Location, options: Options, target: Path) -> Extraction:
    return extractor_for(app, source, place, options).extract(source, place, options, target)


def extractor_for(app: Container, source: Source, place: Location, options: Options) -> Extractor:
    return next(each for each in app.extractors if options.form in each.forms(source.format, place))


def assert_same_extent(place: Location, done: Extraction, form: Form) -> None:
    match place, done.extent:
        case TimeSpan(), TimeSpan():
            if form is Form.NATIVE and done.bytes_from is None and not done.notes:
                assert place.start == pytest.approx(done.extent.start, abs=0.05)
                assert place.end == pytest.approx(done.extent.end, abs=0.06)
        case Box(), Box():
            assert place.corners == pytest.approx(done.extent.corners, abs=0.01)
        case _:
            assert place == done.extent
