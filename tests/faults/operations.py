"""What is killed and starved: command lines of `citekit`, each with what was done before it in the same home."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from tests.made_files import make_epub

HOUR = 3600

OLD = 5
"""Seconds that every run is later than it is: so the inputs are old enough for what was read of them to be remembered."""

ENVIRONMENT = {
    "CITEKIT_EMBEDDER": "hashing",
    "CITEKIT_OCR": "off",
    "CITEKIT_CONCURRENCY": "1",
    "QDRANT_URL": "",
    "NO_COLOR": "1",
}
"""Of every run."""

Change = Callable[["Place"], object]


@frozen
class Place:
    """The folders of one trial: `home` is made anew for each, `inputs` stay as they are."""

    inputs: Path
    home: Path

    def words(self, arguments: Sequence[str]) -> list[str]:
        """A command line with the folder of the inputs put in, and the home."""
        put_in = [word.replace("INPUTS", str(self.inputs)).replace("HOME", str(self.home)) for word in arguments]
        return ["--home", str(self.home), *put_in]


def _nothing(_place: Place) -> None:
    """The files stay as they are."""


@frozen
class Operation:
    """`first` and `before` are done once, `prepare` before each trial, `just_before` is run in the same home right before `command`.

    `later` is how many seconds after `before` the command is run; `middle` makes the maps that it stores on its way. Where
    it `says` something, that has to be the same again after a fault.
    """

    name: str
    command: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    just_before: Sequence[Sequence[str]] = ()
    first: Change = field(default=_nothing, repr=False)
    prepare: Change = field(default=_nothing, repr=False)
    environment: Mapping[str, str] = field(factory=dict)
    later: int = 0
    middle: Sequence[Sequence[str]] = ()
    says: bool = False


INPUTS = ("notes.md", "report.pdf", "chart.png", "film.mp4", "talk.mp3", "book.epub")
TEXT, PDF, IMAGE, VIDEO, AUDIO, BOOK = (("ingest", f"INPUTS/{name}") for name in INPUTS)
PAGES = ("resolve", "doc://report#pages=2-3")
LINES = ("resolve", "text://notes_md#lines=3-9")
REGION = ("resolve", "image://chart#bbox=0.1,0.1,0.6,0.5")
CLIP = ("resolve", "video://film#t=0.4,1.2")
FFMPEG = {"CITEKIT_MEDIA": "ffmpeg"}
QUOTE = ("verify-quote", "doc://report#pages=2-3", "Page 3 of the report", "--json")
SHELF = ("library", "ingest-file", "INPUTS/shelf/tides.md", "--title", "Tides", "--author", "A. Moon")
OTHER = ("library", "ingest-file", "INPUTS/shelf/winds.md", "--title", "Winds", "--author", "B. Air")


def _without_outputs(place: Place) -> None:
    for path in (place.home / ".citekit_output").iterdir():
        if path.is_file():
            path.unlink()


def _other_copy(place: Place) -> None:
    """Another file is where the copy is to go."""
    (place.home / "copy.pdf").write_bytes(b"another file")


def _damage(place: Place) -> None:
    """One object is torn, as after a power cut, and a killed process left something half made."""
    torn = next(path for path in sorted((place.home / ".citekit_cache").rglob("objects/*/*")) if path.is_file())
    data = torn.read_bytes()
    torn.unlink()
    torn.write_bytes(data[: len(data) // 2])
    left = torn.parents[2] / "making" / f"{'0' * 64}-0"
    left.mkdir(parents=True, exist_ok=True)
    (left / "evidence").write_bytes(b"half")


def _changed_notes(place: Place) -> None:
    """The notes are another file than was mapped; where they lie is the same for every trial."""
    own = place.home / "changing.md"
    own.write_text((place.inputs / "notes.md").read_text("utf-8").replace("line 4", "line four"), "utf-8")


def _copied_notes(place: Place) -> None:
    shutil.copy(place.inputs / "notes.md", place.home / "changing.md")


def _faulty_map(place: Place) -> None:
    """The map says that its file has more pages than it has."""
    path = place.home / ".resource_maps" / "report.json"
    plain = json.loads(path.read_bytes())
    plain["nodes"][-1]["location"]["pages"] = [5, 99]
    path.write_text(json.dumps(plain), "utf-8")


def _torn_texts(place: Place) -> None:
    """What was kept for quotes is torn, as after a power cut."""
    for path in (place.home / ".citekit_cache").rglob("*.json"):
        path.write_bytes(path.read_bytes()[:-20])


OPERATIONS = (
    Operation("ingest, text", TEXT),
    Operation("ingest, PDF", PDF),
    Operation("map replaced", ("ingest", "--force", "INPUTS/report.pdf"), (PDF, TEXT)),
    Operation("map removed", ("remove", "report"), (PDF, TEXT)),
    Operation("resolve, PDF pages", PAGES, (PDF,)),
    Operation("resolve, text", LINES, (TEXT,)),
    Operation("resolve, image", REGION, (IMAGE,)),
    Operation("resolve, chapter", ("resolve", "doc://book#chapter=1"), (BOOK,)),
    Operation("resolve, clip of a film", CLIP, (VIDEO,)),
    Operation("resolve, exact clip of a film", (*CLIP, "--accurate"), (VIDEO,)),
    Operation("resolve, clip of a film by ffmpeg", CLIP, (VIDEO,), environment=FFMPEG),
    Operation("resolve, clip of a talk", ("resolve", "audio://talk#t=0.4,1.2"), (AUDIO,)),
    Operation("resolve, copied", (*PAGES, "--output", "HOME/copy.pdf"), (PDF,)),
    Operation("resolve, copied anew", (*PAGES, "--output", "HOME/copy.pdf", "--force"), (PDF,), prepare=_other_copy),
    Operation("resolve again", PAGES, (PDF, PAGES), (PAGES,)),
    Operation("resolve after the home was copied", PAGES, (PDF, PAGES)),
    Operation("output laid anew", PAGES, (PDF, PAGES), prepare=_without_outputs),
    Operation(
        "output of a changed source",
        ("resolve", "--remap", "text://changing_md#lines=3-9"),
        (("ingest", "HOME/changing.md"), ("resolve", "text://changing_md#lines=3-9")),
        first=_copied_notes,
        prepare=_changed_notes,
    ),
    Operation(
        "eviction by resolve",
        REGION,
        (PDF, IMAGE, TEXT, PAGES, LINES),
        environment={"CITEKIT_CACHE_LIMIT": "1000"},
        later=HOUR,
    ),
    Operation("cache prune", ("cache", "prune", "--limit", "1"), (PDF, TEXT, PAGES, LINES), later=HOUR),
    Operation("cache clear", ("cache", "clear"), (PDF, TEXT, PAGES, LINES)),
    Operation("cache verify", ("cache", "verify"), (PDF, TEXT, PAGES, LINES), prepare=_damage),
    Operation("validate --fix", ("validate", "--fix", "report"), (PDF,), prepare=_faulty_map),
    Operation("verify-quote", QUOTE, (PDF,), says=True),
    Operation("verify-quote, kept text torn", QUOTE, (PDF, QUOTE), prepare=_torn_texts, says=True),
    Operation("find --titles", ("find", "--titles", "middle", "--json"), (PDF, TEXT), says=True),
    Operation(
        "adapt", ("adapt", "INPUTS/plan.json", "-a", "generic", "--id", "plan", "--source", "INPUTS/notes.md"), (TEXT,)
    ),
    Operation("library ingest, first book", SHELF, middle=(("ingest", "INPUTS/shelf/tides.md"),)),
    Operation("library ingest, second book", OTHER, (SHELF,), middle=(("ingest", "INPUTS/shelf/winds.md"),)),
    Operation("library ingest, replaced", (*SHELF, "--force"), (SHELF, OTHER)),
    Operation("library remove", ("library", "remove", "--file", "INPUTS/shelf/tides.md"), (SHELF, OTHER)),
    Operation("library rebuild", ("library", "rebuild"), (SHELF, OTHER)),
    Operation(
        "library query",
        ("library", "query", "the tide in the evening", "--threshold", "0", "--limit", "3", "--json"),
        (SHELF, OTHER),
        says=True,
    ),
)


def make_inputs(folder: Path) -> None:
    """Small real files."""
    folder.mkdir(parents=True)
    notes = "# Notes\n\n" + "".join(f"This is line {number} of the notes.\n" for number in range(1, 40))
    (folder / "notes.md").write_text(notes, "utf-8")
    _make_pdf(folder / "report.pdf")
    _make_image(folder / "chart.png")
    _make_film(folder / "film.mp4")
    _make_talk(folder / "talk.mp3")
    make_epub(folder / "book.epub")
    plan = {
        "title": "Plan",
        "type": "text",
        "nodes": [{"id": name, "title": name, "location": {"lines": [1, 3]}} for name in ("a", "b")],
    }
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    shelf = folder / "shelf"
    shelf.mkdir()
    for name, word in (("tides.md", "tide"), ("winds.md", "wind")):
        chapters = (
            f"# Chapter {each}\n\n" + f"The {word} number {each} turns in the evening. " * 60 for each in (1, 2, 3)
        )
        (shelf / name).write_text("\n\n".join(chapters), "utf-8")


def _make_pdf(path: Path) -> None:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for number in range(1, 7):
            document.new_page().insert_text((72, 72), f"Page {number} of the report", fontsize=14)
        document.set_toc([[1, "Beginning", 1], [2, "Middle", 3], [1, "End", 5]])
        document.save(path)


def _make_image(path: Path) -> None:
    from PIL import Image

    picture = Image.new("RGB", (120, 80))
    picture.putdata([(x * 2 % 256, y * 3 % 256, (x * y) % 256) for y in range(80) for x in range(120)])
    data = io.BytesIO()
    picture.save(data, "PNG")
    path.write_bytes(data.getvalue())


def _make_film(path: Path) -> None:
    """Two seconds, a keyframe each half of one."""
    import av
    import numpy as np

    with av.open(str(path), "w") as film:
        stream = film.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.gop_size = 64, 48, 5
        for number in range(20):
            picture = np.full((48, 64, 3), number * 12, np.uint8)
            film.mux(stream.encode(av.VideoFrame.from_ndarray(picture)))
        film.mux(stream.encode())


def _make_talk(path: Path) -> None:
    """Two seconds of a tone."""
    import av
    import numpy as np

    with av.open(str(path), "w") as talk:
        stream = talk.add_stream("mp3", rate=16000, layout="mono")
        tone = (np.sin(np.arange(32000) / 6) * 9000).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(tone[None, :], format="s16", layout="mono")
        frame.sample_rate = 16000
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=16000, frame_size=576)
        for each in (*resampler.resample(frame), *resampler.resample(None)):
            talk.mux(stream.encode(each))
        talk.mux(stream.encode())
