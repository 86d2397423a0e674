"""What every mapper promises, of every format."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.container import Container, bootstrap
from citekit.domain.errors import Cancelled, CiteKitError
from citekit.domain.ids import NODE_ID_LIMIT
from citekit.domain.ports.mapper import Mapper
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues
from citekit.wire import maps
from tests.contracts import small_files
from tests.doubles.mapper import ScriptedMapper
from tests.made_files import NAMES, make_all
from tests.mappers.model_talks import answer_of
from tests.services.gemini_server import GeminiServer
from tests.services.openai_server import KEY as OPENAI_KEY
from tests.services.openai_server import OpenAiServer

Make = Callable[[Container], Mapper]

SMALL_PREFIX = "small file: "
"""What the names of the files in `small_files` begin with here; one is there for every format that is known."""


_SAID: dict[Path, ResourceMap] = {}


def said(app: Container, source: Source) -> ResourceMap:
    """What the local mapper says of a file, for mappers that are given their answers: mapped once, in this process."""
    if source.path not in _SAID:
        local = bootstrap(evolve(app.settings, parsers="here")).mapper_called("local")
        _SAID[source.path] = local.map(source, "x")
    return _SAID[source.path]


class Echo:
    """A mapper of the user's that says in plain data what the local mapper says."""

    def __init__(self, app: Container) -> None:
        self.app = app

    async def generate_map(self, path: str, kind: str, resource_id: str) -> object:
        source = self.app.sources.identify(Path(path))
        assert kind == source.format.modality
        return maps.to_plain_map(evolve(said(self.app, source), resource_id=resource_id))


class Model:
    """The mapper of a model at a local server, which says of each file what a perfect model would say."""

    def __init__(self, app: Container, server: GeminiServer | OpenAiServer, name: str, **settings: Any) -> None:
        self.app, self.server = app, server
        self.mapper = bootstrap(evolve(app.settings, base_url=server.url, mapper=name, **settings)).mapper
        self.identity, self.supports, self.sidecar_files = (
            self.mapper.identity,
            self.mapper.supports,
            self.mapper.sidecar_files,
        )

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        answer = answer_of(said(self.app, source), source)
        self.server.answer = answer if isinstance(self.server, GeminiServer) else lambda body: answer
        return self.mapper.map(source, resource_id, progress)


GEMINI = GeminiServer()
OPENAI = OpenAiServer().__enter__()

MAPPERS: dict[str, Make] = {
    "gemini": lambda app: Model(app, GEMINI, "gemini", gemini_key=GEMINI.key),
    "openai": lambda app: Model(app, OPENAI, "openai", openai_key=OPENAI_KEY),
    "local": lambda app: app.mapper_called("local"),
    "custom": lambda app: app.mapper_from(Echo(app)),
    "scripted": lambda app: ScriptedMapper(lambda source: said(app, source).nodes),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return bootstrap(home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def sources(app: Container, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    made = make_all(tmp_path_factory.mktemp("files"))
    return {name: app.sources.identify(path) for name, path in made.items()}


@pytest.fixture(scope="module")
def small(app: Container, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Source]:
    """A small real file of the format of that name, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("small")

    @cache
    def made(name: str) -> Source:
        try:
            return app.sources.identify(small_files.make(name, folder))
        except LookupError as missing:
            pytest.fail(str(missing))

    return made


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, str], ResourceMap]:
    return {}


@pytest.fixture(scope="module")
def mappers(app: Container) -> Callable[[str], Mapper]:
    return cache(lambda kind: MAPPERS[kind](app))


SMALL = [f"{SMALL_PREFIX}{format}" for format in small_files.FORMATS]


@pytest.mark.parametrize(
    ("kind", "name"), [*((kind, name) for name in NAMES for kind in MAPPERS), *(("local", name) for name in SMALL)]
)
class TestMapper:
    @pytest.fixture
    def source(self, sources: dict[str, Source], small: Callable[[str], Source], name: str) -> Source:
        return small(name.removeprefix(SMALL_PREFIX)) if name.startswith(SMALL_PREFIX) else sources[name]

    @pytest.fixture
    def mapper(self, mappers: Callable[[str], Mapper], kind: str, name: str) -> Mapper:
        if (kind, name) == ("openai", "lena.ogg"):
            pytest.skip("cannot be shown to a service that takes no sound")
        if (kind, name) == ("openai", "r-intro.pdf"):
            pytest.skip("is asked about in pieces, each with an answer of its own: see test_model_long.py")
        return mappers(kind)

    @pytest.fixture
    def made(self, mapper: Mapper, source: Source, known: dict[tuple[str, str], ResourceMap], kind: str) -> ResourceMap:
        key = kind, source.path.name
        if key not in known:
            known[key] = mapper.map(source, "some_id")
        return known[key]

    def test_the_same_id_comes_out_as_went_in(self, made: ResourceMap) -> None:
        assert "some_id" == made.resource_id

    def test_there_are_nodes_and_all_are_inside_the_file_and_their_parents(self, made: ResourceMap) -> None:
        assert made.node_count
        assert [] == map_issues(made)

    def test_ids_are_short_enough_for_file_names(self, made: ResourceMap) -> None:
        assert all(len(node.id.encode()) <= NODE_ID_LIMIT for node in made.walk())

    def test_the_map_says_what_was_mapped_and_by_whom(self, made: ResourceMap, mapper: Mapper, source: Source) -> None:
        assert (source.digest, mapper.identity) == (made.source_digest, made.mapper)
        assert (source.size, str(source.path)) == (made.metadata["source_size"], made.source_path)
        assert source.format.modality is made.modality

    @pytest.mark.long
    def test_the_same_file_gives_the_same_map(self, made: ResourceMap, mapper: Mapper, source: Source) -> None:
        again = mapper.map(source, "some_id")

        assert made == evolve(again, created_at=made.created_at)

    def test_the_map_survives_being_written(self, made: ResourceMap) -> None:
        assert made == maps.from_json(maps.to_json(made), "text")


@pytest.mark.parametrize("name", small_files.FORMATS)
def test_a_small_file_is_of_the_format_that_it_stands_for(small: Callable[[str], Source], name: str) -> None:
    source = small(name)

    assert name == source.format.name
    assert source.size <= small_files.LARGEST


def test_a_mapper_stops_when_nobody_wants_the_map(app: Container, sources: dict[str, Source]) -> None:
    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("nobody wants it")

    for name in ("r-intro.pdf", "run.mp4", "lena.ogg"):
        with pytest.raises(Cancelled):
            app.mapper_called("local").map(sources[name], "x", give_up)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type"),
        ("cut.epub", b"PK\x03\x04mimetypeapplication/epub+zip"),
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"),
        ("cut.mp4", b"\0\0\0\x18ftypisom\0\0\0\0isomiso2"),
        ("cut.ogg", b"OggS\0\x02\0\0\0\0"),
        ("cut.mp3", b"ID3\x04\0\0\0\0\0\0"),
    ],
)
def test_a_file_that_breaks_off_is_one_clear_error(app: Container, tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(CiteKitError) as refusal:
        app.mapper_called("local").map(app.sources.identify(path), "x")

    assert name in str(refusal.value)
