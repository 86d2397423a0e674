from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.shared import line_extractor as text
from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.adapters.formats.shared.text_file import encoding_of, open_text
from citekit.domain.digest import Digest
from citekit.domain.errors import FormUnsupported, LocationOutside, SourceUnreadable
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.formats import BY_SUFFIX, PLAIN_TEXT
from citekit.domain.locations import Box, Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

Cut = Callable[..., tuple[bytes, Extraction]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def cut(folder: Path) -> Cut:
    extractor = TextExtractor()

    def run(data: bytes, lines: Lines, form: Form = Form.NATIVE, name: str = "a.txt") -> tuple[bytes, Extraction]:
        path, target = folder / name, folder / "target"
        path.write_bytes(data)
        target.unlink(missing_ok=True)
        source = Source(path, Digest.of_bytes(data), len(data), BY_SUFFIX.get(path.suffix, PLAIN_TEXT))
        extraction = extractor.extract(source, lines, Options(form), target)
        return target.read_bytes(), extraction

    return run


def split(data: bytes) -> list[bytes]:
    """The lines of some bytes, split by the standard library instead of our index."""
    return data.splitlines(keepends=True)  # of bytes: at LF, CR and CR LF only


texts = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", "ä".encode(), b"\xe4", b"\x0b\x0c\x85"]), min_size=1
)


@given(texts.map(b"".join), st.data())
def test_a_slice_is_what_an_independent_split_gives(cut: Cut, data: bytes, draw: st.DataObject) -> None:
    lines = split(data)
    first = draw.draw(st.integers(1, len(lines)))
    last = draw.draw(st.integers(first, len(lines)))

    actual, extraction = cut(data, Lines(first, last))

    assert b"".join(lines[first - 1 : last]) == actual
    assert Lines(first, last) == extraction.extent


@given(
    st.text(alphabet="aä日\n\r😀", min_size=1),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"]),
    st.data(),
)
def test_the_text_form_is_the_same_lines_in_utf_8(cut: Cut, text: str, encoding: str, draw: st.DataObject) -> None:
    marks = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    data = marks.get(encoding, codecs.BOM_UTF32_LE) + text.encode(encoding)
    lines = split(text.encode())
    first = draw.draw(st.integers(1, len(lines)))

    actual, extraction = cut(data, Lines(first, len(lines)), Form.TEXT)

    assert b"".join(lines[first - 1 :]) == actual
    assert (".txt", ()) == (extraction.suffix, extraction.notes)


def test_utf_16_lines_stay_as_they_are_and_it_says_that_the_mark_is_missing(cut: Cut) -> None:
    data = codecs.BOM_UTF16_LE + "eins\r\nzwei\r\n".encode("utf-16-le")

    first, whole = cut(data, Lines(1, 1))
    second, extraction = cut(data, Lines(2, 2))

    assert codecs.BOM_UTF16_LE + "eins\r\n".encode("utf-16-le") == first
    assert "zwei\r\n".encode("utf-16-le") == second
    assert () == whole.notes
    assert "UTF-16-LE" in extraction.notes[0]


def test_an_unmarked_eight_bit_text_is_decoded_and_the_guess_is_said(cut: Cut) -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 5

    actual, extraction = cut(text.encode("windows-1251"), Lines(2, 2), Form.TEXT)

    assert text.splitlines(keepends=True)[1].encode() == actual
    assert "not valid UTF-8" in extraction.notes[0]


def test_escape_sequences_of_japanese_mail_are_decoded(cut: Cut) -> None:
    text = "吾輩は猫である。\nNo name yet.\n名前はまだ無い。\n"

    actual, extraction = cut(text.encode("iso2022_jp"), Lines(3, 3), Form.TEXT)

    assert actual == "名前はまだ無い。\n".encode()
    assert "ISO2022_JP" in extraction.notes[0]


def test_bytes_that_the_encoding_does_not_have_are_replaced_and_it_says_so(cut: Cut) -> None:
    data = codecs.BOM_UTF8 + b"good\nbad \xff\n"

    actual, extraction = cut(data, Lines(2, 2), Form.TEXT)

    assert "bad \ufffd\n".encode() == actual
    assert "U+FFFD" in extraction.notes[0]


def test_the_native_form_is_of_the_source_s_own_format(cut: Cut) -> None:
    _, extraction = cut(b"one\n", Lines(1, 1), name="a.md")

    assert ("", "") == (extraction.suffix, extraction.media_type)


def test_lines_beyond_the_end_are_outside(cut: Cut) -> None:
    with pytest.raises(LocationOutside, match="3 lines"):
        cut(b"a\nb\nc", Lines(2, 4))


def test_a_second_cut_reads_only_what_it_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "RACY", -1.0)
    path = folder / "counted.txt"
    path.write_bytes(b"line\n" * 1000)
    source = Source(path, Digest.of_bytes(path.read_bytes()), 5000, PLAIN_TEXT)
    reports: list[str] = []

    def watch(done: float, total: float | None = None, message: str = "") -> None:
        reports.append(message)

    extractor = TextExtractor()
    for number in (1, 2):
        extractor.extract(source, Lines(1, 2), Options(), folder / f"cut{number}", watch)

    assert ["counting lines"] == reports


def test_the_name_of_a_file_does_not_change_its_evidence(folder: Path) -> None:
    made = []
    for number, name in enumerate(("a.txt", "b.log", "c")):
        (folder / name).write_bytes(b"x\n")
        source = Source(folder / name, Digest.of_bytes(b"x\n"), 2, PLAIN_TEXT)
        made.append(TextExtractor().extract(source, Lines(1, 1), Options(), folder / f"named{number}"))

    assert [made[0]] * 3 == made


def test_an_index_larger_than_the_limit_is_kept_until_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "INDEX_LIMIT", 16)
    monkeypatch.setattr(text, "RACY", -1.0)
    reports: list[str] = []

    def watch(done: float, total: float | None = None, message: str = "") -> None:
        reports.append(message)

    extractor = TextExtractor()
    for number, data in enumerate((b"a\n" * 9, b"a\n" * 9, b"b\n" * 9, b"a\n" * 9)):
        path = folder / f"large{data[:1].decode()}.txt"
        if not path.exists():
            path.write_bytes(data)
        source = Source(path, Digest.of_bytes(data), len(data), PLAIN_TEXT)
        extractor.extract(source, Lines(9, 9), Options(), folder / f"large{number}", watch)

    assert ["counting lines"] * 3 == reports


def watched(reports: list[float]) -> Progress:
    def watch(done: float, total: float | None = None, message: str = "") -> None:
        reports.append(done)

    return watch


def test_lines_at_the_beginning_are_cut_without_reading_the_rest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "RACY", -1.0)
    path = folder / "growing.txt"
    path.write_bytes(b"0123456\n" * 500_000)
    source = Source(path, Digest.of_bytes(b"growing"), 4_000_000, PLAIN_TEXT)
    extractor = TextExtractor()
    reports: list[float] = []
    reached = []

    for number, lines in enumerate((Lines(1, 40), Lines(250_000, 250_040), Lines(499_990, 500_000), Lines(9, 9))):
        extractor.extract(source, lines, Options(), folder / f"growing{number}", watched(reports))
        reached.append(max(reports))

    assert reached[0] == 0
    assert 1_000_000 < reached[1] < 2_500_000 < reached[2]
    assert reached[2] == reached[3]


def test_of_a_file_that_was_just_changed_nothing_is_remembered(folder: Path) -> None:
    path = folder / "young.txt"
    status = None
    extractor = TextExtractor()
    made = []
    for number, data in enumerate((b"a\nb\nc\nd\n", b"aaaa\nbc\n")):
        path.write_bytes(data)
        status = status or path.stat()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        source = Source(path, Digest.of_bytes(b"both seem the same"), 8, PLAIN_TEXT)
        extractor.extract(source, Lines(2, 2), Options(), folder / f"young{number}")
        made.append((folder / f"young{number}").read_bytes())

    assert [b"b\n", b"bc\n"] == made


@pytest.mark.parametrize("replaced", [False, True])
def test_what_is_remembered_of_a_file_counts_only_while_it_looks_the_same(
    replaced: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "RACY", -1.0)
    path = folder / f"old{replaced}.txt"
    extractor = TextExtractor()
    made = []
    for number, data in enumerate((b"a\nb\nc\nd\n", b"aaaa\nbc\n", b"a\nb\nc\nd\n")):
        written = folder / "beside.txt" if replaced else path
        written.write_bytes(data)
        os.utime(written, ns=(0, 5_000_000_000 - number * 1_000_000_000))
        written.replace(path)
        target = folder / f"old{replaced}{number}"
        extractor.extract(Source(path, Digest.of_bytes(b"old"), 8, PLAIN_TEXT), Lines(2, 2), Options(), target)
        made.append(target.read_bytes())

    assert [b"b\n", b"bc\n", b"b\n"] == made


@pytest.mark.long
def test_an_eight_bit_text_is_told_as_its_map_tells_it(folder: Path, cut: Cut) -> None:
    data = b"plain\n" * 300_000 + "a café in Paris\n".encode("cp1252") * 3 + b"plain\n" * 300_000
    path = folder / "late.txt"
    path.write_bytes(data)

    actual, extraction = cut(data, Lines(300_001, 300_001), Form.TEXT)

    assert "a café in Paris\n".encode() == actual
    assert open_text(path).encoding == encoding_of(path) == "cp1252"
    assert "CP1252" in extraction.notes[0]


def test_other_places_and_forms_are_not_its_work(cut: Cut, folder: Path) -> None:
    extractor = TextExtractor()

    assert () == extractor.forms(PLAIN_TEXT, Box(0, 0, 1, 1))
    assert () == extractor.forms(BY_SUFFIX[".pdf"], Lines(1, 1))
    assert (Form.NATIVE, Form.TEXT, Form.SOURCE) == extractor.forms(PLAIN_TEXT, Lines(1, 1))
    with pytest.raises(FormUnsupported):
        cut(b"x", Lines(1, 1), Form.PNG)


def test_a_source_that_is_gone_is_unreadable(folder: Path) -> None:
    source = Source(folder / "gone.txt", Digest.of_bytes(b"x"), 1, PLAIN_TEXT)

    with pytest.raises(SourceUnreadable):
        TextExtractor().extract(source, Lines(1, 1), Options(), folder / "never")


@pytest.mark.corpus
def test_slices_of_every_text_of_the_corpus_are_its_bytes(corpus: Path, folder: Path) -> None:
    extractor = TextExtractor()
    for number, path in enumerate(sorted((corpus / "text").iterdir())):
        data = path.read_bytes()
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            continue
        lines = split(data)
        middle = len(lines) // 2 + 1
        source = Source(path, Digest.of_bytes(data), len(data), BY_SUFFIX.get(path.suffix, PLAIN_TEXT))

        target = folder / f"corpus{number}"
        extractor.extract(source, Lines(middle, len(lines)), Options(), target)

        assert b"".join(lines[middle - 1 :]) == target.read_bytes(), path.name
