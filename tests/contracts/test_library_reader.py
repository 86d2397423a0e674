"""What every LibraryReader promises: readers of documents and of recordings, in this process and in workers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from citekit.adapters.sources.filesystem import FileSources
from citekit.container import bootstrap
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, LocationOutside, SourceUnreadable, SourceUnsupported
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.source import Source
from citekit.settings import Settings
from tests.contracts.test_text_reader import KINDS, WORDS, some_ranges
from tests.formats.html.visible import letters
from tests.formats.media.speech_samples import write_sound

SAID = ["Call me Ishmael.", "Some years ago, never mind how long.", "The bees leave the hive."]


def talk(path: Path) -> Path:
    """A silent recording with subtitles beside it."""
    cues = [f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n" for n, line in enumerate(SAID, 1)]
    path.with_suffix(".srt").write_text("\n".join(cues), encoding="utf-8")
    return write_sound(path, [0] * 5000, 1000)


DOCUMENTS: dict[str, Callable[[Path], Path]] = {kind.name: kind.make for kind in KINDS}
RECORDINGS: dict[str, Callable[[Path], Path]] = {"talk.wav": talk}
READERS = ("documents inline", "documents subprocess", "library inline", "library subprocess")
"""The reader of documents alone, and that of the library, which reads recordings too; and where they parse."""


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LibraryReader]]:
    apps = {
        where: bootstrap(Settings(home=tmp_path_factory.mktemp("home"), parsers=where, speech=False))
        for where in ("inline", "subprocess")
    }
    yield {f"documents {where}": app.text for where, app in apps.items()} | {
        f"library {where}": app.alexandria.text for where, app in apps.items()
    }
    for app in apps.values():
        if app.workers is not None:
            app.workers.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    folder = tmp_path_factory.mktemp("files")
    return {name: FileSources().identify(make(folder / name)) for name, make in (DOCUMENTS | RECORDINGS).items()}


@pytest.mark.parametrize(
    ("which", "name"),
    [(which, name) for which in READERS for name in DOCUMENTS]
    + [(which, name) for which in READERS if "library" in which for name in RECORDINGS],
)
class TestEveryFile:
    @pytest.fixture
    def reader(self, readers: dict[str, LibraryReader], which: str) -> LibraryReader:
        return readers[which]

    @pytest.fixture
    def source(self, files: dict[str, Source], name: str) -> Source:
        return files[name]

    def test_all_words_are_there_in_order(self, reader: LibraryReader, source: Source, name: str) -> None:
        expected = letters(WORDS) if name in DOCUMENTS else letters("".join(SAID))

        assert reader.supports(source.format)
        assert expected == letters(reader.read(source).text)

    def test_the_span_of_a_place_holds_its_range(self, reader: LibraryReader, source: Source) -> None:
        found = reader.read(source)

        for start, end in some_ranges(found):
            span = found.span_of(found.locate(start, end))

            assert span is not None
            assert letters(found.text[start:end]) in letters(found.text[span[0] : span[1]])

    def test_a_range_outside_the_text_has_no_place(self, reader: LibraryReader, source: Source) -> None:
        found = reader.read(source)

        with pytest.raises(LocationOutside):
            found.locate(0, len(found.text) + 1)

    def test_it_reads_the_same_twice_and_leaves_the_source(self, reader: LibraryReader, source: Source) -> None:
        before = source.path.read_bytes()

        assert reader.read(source) == reader.read(source)
        assert before == source.path.read_bytes()

    def test_facts_hold_no_blanks(self, reader: LibraryReader, source: Source) -> None:
        facts = reader.facts(source)

        assert facts.title is None or facts.title.strip() == facts.title != ""
        assert all(author.strip() for author in facts.authors)

    def test_a_missing_file_is_one_clear_error(self, reader: LibraryReader, source: Source, tmp_path: Path) -> None:
        path = Path(shutil.copy(source.path, tmp_path / f"gone{source.path.suffix}"))
        gone = FileSources().identify(path)
        path.unlink()

        with pytest.raises((SourceUnreadable, SourceUnsupported)):
            reader.read(gone)
        with pytest.raises((SourceUnreadable, SourceUnsupported)):
            reader.facts(gone)

    def test_a_cancelled_reading_stops(self, reader: LibraryReader, source: Source, tmp_path: Path) -> None:
        def stop(done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("Enough.")

        if source.path.name in RECORDINGS:
            pytest.skip("The subtitles of a recording are read at once.")
        with pytest.raises(Cancelled):
            reader.read(source, stop)


@pytest.mark.parametrize("which", READERS)
class TestEveryReader:
    def test_a_file_that_is_not_in_its_format_is_unsupported(
        self, readers: dict[str, LibraryReader], which: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "broken.docx"
        path.write_bytes(b"PK\x03\x04 and nothing else")
        source = Source(path, Digest.of_bytes(path.read_bytes()), path.stat().st_size, BY_SUFFIX[".docx"])

        with pytest.raises(SourceUnsupported, match=r"broken\.docx"):
            readers[which].read(source)

    def test_only_the_reader_of_the_library_takes_recordings(
        self, readers: dict[str, LibraryReader], files: dict[str, Source], which: str
    ) -> None:
        assert ("library" in which) is readers[which].supports(files["talk.wav"].format)

    def test_a_recording_without_words_is_unsupported(
        self, readers: dict[str, LibraryReader], which: str, tmp_path: Path
    ) -> None:
        source = FileSources().identify(write_sound(tmp_path / "silent.wav", [0] * 3000, 1000))

        with pytest.raises(SourceUnsupported, match=r"silent\.wav"):
            readers[which].read(source)
