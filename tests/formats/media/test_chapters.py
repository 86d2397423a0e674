"""Chapters of recordings: titles, times, and clips. The sound of each chapter has its own pitch."""

from __future__ import annotations

import math
import struct
from array import array
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.media.chapters import ChapterMark, arrange_chapters
from citekit.adapters.formats.media.chapters_id3 import read_id3_chapters
from citekit.adapters.formats.media.chapters_matroska import read_matroska_chapters
from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.evidence import Options
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.progress import silent
from tests.formats.media.media_samples import ffmpeg, source

RATE = 48000
PITCHES = (400, 800, 1200)
TIMES = (0.0, 1.13, 2.417, 4.0)
TITLES = ("Eins – Anfang", "Zwei", "Drei 三")
TRUTH = [(title, start, end) for title, (start, end) in zip(TITLES, pairwise(TIMES), strict=True)]
CLOSE = 0.05


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of raw samples, and a file with tags and chapters for ffmpeg."""
    samples = array("h")
    for number in range(round(TIMES[-1] * RATE)):
        time = number / RATE
        pitch = next(p for p, end in zip(PITCHES, TIMES[1:], strict=True) if time < end)
        samples.append(int(9000 * math.sin(2 * math.pi * pitch * time)))
    folder = tmp_path_factory.mktemp("recording")
    (folder / "raw").write_bytes(samples.tobytes())
    marks = [
        f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={start * 1000:.0f}\nEND={end * 1000:.0f}\ntitle={title}\n"
        for title, start, end in TRUTH
    ]
    tags = "title=A Book\nartist=Ann Author\nalbum=Series\ndate=1999\n"
    (folder / "tags").write_text(f";FFMETADATA1\n{tags}{''.join(marks)}", "utf-8")
    return folder


def encoded(recording: Path, target: Path, *options: str) -> Path:
    ffmpeg("-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", str(recording / "raw"), "-i", str(recording / "tags"),
           "-map_metadata", "1", *options, str(target))  # fmt: skip
    return target


def outline_items_of(path: Path) -> tuple[OutlineItem, ...]:
    return tuple(MediaOutliner(PyAvProbe()).outline(source(path), silent).items)


def title_and_times(outline_item: OutlineItem) -> tuple[str, float, float]:
    assert isinstance(outline_item.location, TimeSpan)
    return outline_item.title, outline_item.location.start, outline_item.location.end or 0.0


def tree(outline_items: tuple[OutlineItem, ...]) -> list[object]:
    return [[*title_and_times(outline_item), *tree(tuple(outline_item.children))] for outline_item in outline_items]


def check_chapters(path: Path, folder: Path) -> None:
    outline_items = outline_items_of(path)
    assert [title for title, _, _ in TRUTH] == [outline_item.title for outline_item in outline_items]
    for (_, start, end), pitch, outline_item in zip(TRUTH, PITCHES, outline_items, strict=True):
        assert (start, end) == pytest.approx(title_and_times(outline_item)[1:], abs=CLOSE)
        clip = folder / "clip"
        extraction = PyAvClipExtractor().extract(source(path), outline_item.location, Options(), clip)
        clip_samples = decoded(clip.rename(clip.with_suffix(extraction.suffix)))
        assert end - start == pytest.approx(len(clip_samples) / RATE, abs=CLOSE)
        assert pitch == pytest.approx(pitch_of(clip_samples[RATE // 20 : RATE // 20 + RATE // 10]), rel=0.05)
        assert pitch == pytest.approx(pitch_of(clip_samples[-RATE // 20 - RATE // 10 : -RATE // 20]), rel=0.05)


def decoded(path: Path, rate: int = RATE) -> array[int]:
    raw = ffmpeg("-v", "error", "-i", str(path), "-ac", "1", "-ar", str(rate), "-f", "s16le", "-", data=True)
    return array("h", raw.stdout)


def pitch_of(samples: array[int]) -> float:
    turns = sum(before < 0 <= after for before, after in pairwise(samples))
    return turns * RATE / len(samples)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("book.m4b", ["-c:a", "aac", "-f", "ipod"]),
        ("track_only.m4b", ["-c:a", "aac", "-f", "ipod", "-movflags", "disable_chpl"]),
        ("book.mp3", ["-c:a", "libmp3lame", "-id3v2_version", "3"]),
        ("book.mka", ["-c:a", "flac"]),
        ("book.opus", ["-c:a", "libopus"]),
    ],
)
def test_chapters_are_mapped_and_extracted_at_their_times(
    recording: Path, tmp_path: Path, name: str, options: list[str]
) -> None:
    check_chapters(encoded(recording, tmp_path / name, *options), tmp_path)


def test_chapters_of_a_chapter_list_without_a_chapter_track_are_read(recording: Path, tmp_path: Path) -> None:
    path = encoded(recording, tmp_path / "book.m4b", "-c:a", "aac", "-f", "ipod")
    path.write_bytes(path.read_bytes().replace(b"tref", b"free", 1))

    check_chapters(path, tmp_path)


@pytest.mark.parametrize(("name", "codec"), [("book.ogg", "libvorbis"), ("book.oga", "flac"), ("book.flac", "flac")])
def test_chapters_in_vorbis_comments_keep_all_of_their_titles(
    recording: Path, tmp_path: Path, name: str, codec: str
) -> None:
    comments = []
    for number, (title, start, _) in enumerate(TRUTH, 1):
        comments += ["-metadata", f"CHAPTER{number:03}=00:00:{start:06.3f}"]
        comments += ["-metadata", f"CHAPTER{number:03}NAME={title}"]

    check_chapters(encoded(recording, tmp_path / name, "-map_chapters", "-1", "-c:a", codec, *comments), tmp_path)


@pytest.mark.parametrize(
    ("name", "codec"), [("book.mp3", "libmp3lame"), ("book.mka", "flac"), ("book.opus", "libopus"), ("book.m4b", "aac")]
)
def test_tags_have_title_artist_album_date_and_language(recording: Path, tmp_path: Path, name: str, codec: str) -> None:
    language = "-metadata:s:a:0" if name.endswith("m4b") else "-metadata"
    path = encoded(recording, tmp_path / name, "-c:a", codec, language, "language=deu")

    tags = dict(PyAvProbe().probe(path).tags)

    expected = {"title": "A Book", "artist": "Ann Author", "album": "Series", "date": "1999", "language": "deu"}
    assert expected == {key: tags.get(key) for key in expected}


@pytest.mark.parametrize(("rate", "bits", "start"), [(48000, "24k", 1.5), (44100, "128k", 0.004), (22050, "16k", 2.2)])
def test_an_mp3_clip_has_the_samples_of_the_source(
    recording: Path, tmp_path: Path, rate: int, bits: str, start: float
) -> None:
    path = encoded(recording, tmp_path / "talk.mp3", "-c:a", "libmp3lame", "-ar", str(rate), "-b:a", bits)
    first, count = round(start * rate), rate

    location = TimeSpan(start, start + 1, Modality.AUDIO)
    PyAvClipExtractor().extract(source(path), location, Options(), tmp_path / "clip.mp3")

    clip_samples, whole = decoded(tmp_path / "clip.mp3", rate), decoded(path, rate)
    assert count == len(clip_samples)
    assert max(abs(a - b) for a, b in zip(clip_samples, whole[first : first + count], strict=True)) <= 1


CHAPS = [("c1", 0.0, 0.8, "One"), ("c2", 0.8, 2.0, "Two"), ("c3", 2.0, 3.0, "Three"), ("c4", 3.0, 4.0, "Four")]
PARTS = [("toc", 3, ["p1", "p2"], ""), ("p1", 1, ["c1", "c2"], "Part I"), ("p2", 1, ["c3", "c4"], "Part II")]


@pytest.fixture(scope="module")
def bare(recording: Path) -> Path:
    return encoded(recording, recording / "bare.mp3", "-c:a", "libmp3lame", "-map_metadata", "-1", "-map_chapters", "-1",
                "-id3v2_version", "0", "-write_id3v1", "0")  # fmt: skip


@pytest.mark.parametrize("version", [3, 4])
def test_parts_in_an_id3_table_of_contents_contain_their_chapters(bare: Path, tmp_path: Path, version: int) -> None:
    path = tmp_path / "book.mp3"
    path.write_bytes(_id3(CHAPS, PARTS, version) + bare.read_bytes())

    assert [
        ["Part I", 0.0, 2.0, ["One", 0.0, 0.8], ["Two", 0.8, 2.0]],
        ["Part II", 2.0, 4.0, ["Three", 2.0, 3.0], ["Four", 3.0, 4.0]],
    ] == tree(outline_items_of(path))
    assert len(decoded(bare)) == len(decoded(path))


def test_a_part_can_have_one_chapter_and_unlisted_chapters_are_hidden(bare: Path, tmp_path: Path) -> None:
    tables = [("toc", 3, ["p1", "c2", "gone", "toc"], ""), ("p1", 1, ["c1"], "Part I")]
    path = tmp_path / "book.mp3"
    path.write_bytes(_id3(CHAPS, tables) + bare.read_bytes())

    assert [["Part I", 0.0, 0.8, ["One", 0.0, 0.8]], ["Two", 0.8, 2.0]] == tree(outline_items_of(path))


def test_id3_chapters_without_a_table_of_contents_are_flat(bare: Path, tmp_path: Path) -> None:
    path = tmp_path / "book.mp3"
    path.write_bytes(_id3(CHAPS, []) + bare.read_bytes())

    assert [[title, start, end] for _, start, end, title in CHAPS] == tree(outline_items_of(path))


@given(data=st.binary(max_size=200), version=st.sampled_from((3, 4)), flags=st.integers(0, 255))
def test_malformed_id3_tables_of_contents_never_fail(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, version: int, flags: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.mp3"
    contents = _frame("CTOC", b"toc\0\3\1c\0" + data, version) + _frame("CHAP", b"c\0" + data, version)
    body = data[:4] + contents if flags & 0x40 else contents
    path.write_bytes(b"ID3" + bytes((version, 0, flags)) + _synchsafe(len(body)) + body)

    assert len(read_id3_chapters(path)) <= 1


def test_the_default_edition_of_matroska_keeps_its_nesting(recording: Path, tmp_path: Path) -> None:
    other = _edition(_atom(0.0, 3.0, "Another"), _atom(3.0, 4.0, "Edition"))
    chosen = _edition(
        _atom(0.0, None, "Part I", _atom(0.0, None, "One"), _atom(0.8, None, "Two")),
        _atom(2.0, 4.0, "Part II", _atom(2.0, 3.0, "Three"), _atom(3.0, 4.0, "Four"), _atom(3.0, 3.5, "", hidden=True)),
        default=True,
    )
    path = encoded(recording, tmp_path / "book.mka", "-c:a", "flac")
    path.write_bytes(_with_chapters(path.read_bytes(), other + chosen))

    assert [
        ["Part I", 0.0, 2.0, ["One", 0.0, 0.8], ["Two", 0.8, 2.0]],
        ["Part II", 2.0, 4.0, ["Three", 2.0, 3.0], ["Four", 3.0, 4.0]],
    ] == tree(outline_items_of(path))


def test_chapters_that_all_end_with_the_file_become_consecutive() -> None:
    found = arrange_chapters([ChapterMark(0, 9, "a"), ChapterMark(2, 9, "b"), ChapterMark(5, 9, "c")], 9)

    assert [("a", 0, 2), ("b", 2, 5), ("c", 5, 9)] == [(cue.text, cue.start, cue.end) for cue in found]


def test_duplicate_chapter_marks_are_merged() -> None:
    found = arrange_chapters(
        [ChapterMark(0, 4, ""), ChapterMark(4, 9, "b"), ChapterMark(0, 4, "a"), ChapterMark(4, 9, "c")], 9
    )

    assert [("a", 0, 4), ("b", 4, 9)] == [(cue.text, cue.start, cue.end) for cue in found]


marks = st.builds(lambda start, end: ChapterMark(start / 4, end / 4, "x"), st.integers(0, 40), st.integers(0, 40))


@given(st.lists(marks, max_size=12))
def test_any_two_chapters_are_disjoint_or_nested(found: list[ChapterMark]) -> None:
    cues = arrange_chapters(found, 10.0)

    assert all(0 <= cue.start < cue.end <= 10 for cue in cues)
    assert sorted(cue.start for cue in cues) == [cue.start for cue in cues]
    for number, one in enumerate(cues):
        for other in cues[number + 1 :]:
            assert other.start >= one.end - 0.001 or other.end <= one.end + 0.001


@given(data=st.binary(max_size=400))
def test_malformed_matroska_chapters_never_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.mka"
    path.write_bytes(bytes.fromhex("1A45DFA38018538067FF1043A770") + _vint(len(data)) + data)

    assert [] == [atom for atom in read_matroska_chapters(path) if atom.start < 0]


def _id3(
    marks: list[tuple[str, float, float, str]], tables: list[tuple[str, int, list[str], str]], version: int = 4
) -> bytes:
    def titled(title: str) -> bytes:
        return _frame("TIT2", b"\1" + title.encode("utf-16"), version) if title else b""

    body = b"".join(
        _frame("CHAP", name.encode() + b"\0" + struct.pack(">IIII", round(start * 1000), round(end * 1000), 0xFFFFFFFF,
                                                           0xFFFFFFFF) + titled(title), version)
        for name, start, end, title in marks
    ) + b"".join(
        _frame("CTOC", f"{name}\0".encode() + bytes((flags, len(below))) + "".join(f"{key}\0" for key in below).encode()
               + titled(title), version)
        for name, flags, below, title in tables
    )  # fmt: skip
    return b"ID3" + bytes((version, 0, 0)) + _synchsafe(len(body)) + body


def _frame(name: str, body: bytes, version: int = 4) -> bytes:
    size = _synchsafe(len(body)) if version == 4 else len(body).to_bytes(4)
    return name.encode() + size + b"\0\0" + body


def _synchsafe(number: int) -> bytes:
    return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))


def _vint(number: int) -> bytes:
    return (number | 1 << 56).to_bytes(8)


def _element(number: str, body: bytes) -> bytes:
    return bytes.fromhex(number) + _vint(len(body)) + body


def _atom(start: float, end: float | None, title: str, *below: bytes, hidden: bool = False) -> bytes:
    times = _element("91", round(start * 1e9).to_bytes(8)) + (
        b"" if end is None else _element("92", round(end * 1e9).to_bytes(8))
    )
    display = _element("80", _element("85", title.encode()))
    return _element("B6", _element("73C4", b"\1") + times + _element("98", bytes([hidden])) + display + b"".join(below))


def _edition(*atoms: bytes, default: bool = False) -> bytes:
    return _element("45B9", _element("45DB", bytes([default])) + b"".join(atoms))


def _with_chapters(data: bytes, editions: bytes) -> bytes:
    """Replace the chapters of a file, and remove its index, which would be wrong."""
    changed = bytearray(data)
    for number, new in (("1043A770", _element("1043A770", editions)), ("1C53BB6B", b""), ("114D9B74", b"")):
        at = changed.rindex(bytes.fromhex(number))
        length = 9 - changed[at + 4].bit_length()
        size = int.from_bytes(changed[at + 4 : at + 4 + length]) & ((1 << 7 * length) - 1)
        changed[at : at + 4 + length + size] = new
    segment = changed.index(bytes.fromhex("18538067"))
    changed[segment + 4 : segment + 12] = _vint(len(changed) - segment - 12)
    return bytes(changed)
