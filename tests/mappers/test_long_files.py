"""Long inputs are cut at borders of their structure, asked about side by side, and put together under the real numbers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Limits, Question, Reply
from citekit.adapters.mappers.llm.windows import split_ranges
from citekit.domain.errors import Cancelled, MapperUnavailable
from citekit.domain.model_usage import Usage
from citekit.domain.validation import map_issues
from tests.doubles.model_service import ScriptedService
from tests.formats.media.media_samples import write_audio, write_video
from tests.mappers.model_talks import (
    LOCAL,
    answer_of,
    model_mapper,
    nodes,
    prompt_text,
    recorded,
    rows_of,
    source_of,
    write_pdf,
)
from tests.mappers.test_model_mapper import SHIPPED

COUNT = 260
CHAPTERS = {1: "Alpha rays", 31: "Beta decay", 111: "Gamma bursts", 191: "Delta waves", 251: "Epsilon fields"}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [f"{CHAPTERS.get(n, '')}\nThis is text on a page, number {n} of all." for n in range(1, COUNT + 1)]
    toc = [(1, title, page) for page, title in CHAPTERS.items()]
    return write_pdf(tmp_path_factory.mktemp("long") / "book.pdf", pages, toc)


def first_page(question: Question) -> int:
    """Where the piece of a question begins."""
    found = re.search(r"pages (\d+)-\d+", prompt_text(question).partition("What a program")[0])
    return int(found[1]) if found else 1


def chapters(first: int, count: int, told_from: int) -> str:
    """The chapters on `count` pages from `first` on, the first of which is told as `told_from`."""
    starts = [page for page in CHAPTERS if first <= page < first + count]
    ends = [page - 1 for page in [*starts[1:], first + count]]
    rows = [(1, CHAPTERS[a], a - first + told_from, b - first + told_from) for a, b in zip(starts, ends, strict=True)]
    return nodes(*rows, title=f"Text on a page, number {first}")


EXPECTED = [
    (1, title, (a, b - 1)) for (a, title), b in zip(CHAPTERS.items(), [*list(CHAPTERS)[1:], COUNT + 1], strict=True)
]


@pytest.mark.parametrize(
    "numbering",
    [
        pytest.param(lambda first: 1, id="counted-in-the-piece"),
        pytest.param(lambda first: first, id="counted-in-the-file"),
        pytest.param(lambda first: first + 9, id="printed"),
    ],
)
def test_pages_are_those_of_the_file_however_the_model_counts(book: Path, numbering: Callable[[int], int]) -> None:
    def script(question: Question) -> str:
        first = first_page(question)
        return chapters(first, 190 if first == 1 else 70, numbering(first))

    service = ScriptedService(script)

    made = model_mapper(service).map(source_of(book), "x")

    assert EXPECTED == rows_of(made)
    assert ("Text on a page, number 1", 2, []) == (made.title, len(service.questions), map_issues(made))


def test_a_long_pdf_is_cut_where_a_chapter_begins(book: Path) -> None:
    seen: dict[int, int] = {}

    def script(question: Question) -> str:
        (part,) = [part for part in question.parts if isinstance(part, FilePart)]
        document = pypdfium2.PdfDocument(str(part.path))
        seen[first_page(question)] = len(document)
        text = document[0].get_textpage().get_text_range()
        document.close()
        assert f"number {first_page(question)} of all" in text
        return chapters(first_page(question), seen[first_page(question)], 1)

    model_mapper(ScriptedService(script)).map(source_of(book), "x")

    assert {1: 190, 191: 70} == seen


def test_pieces_are_as_small_as_the_service_takes(book: Path) -> None:
    sizes: list[int] = []

    def script(question: Question) -> str:
        (part,) = [part for part in question.parts if isinstance(part, FilePart)]
        sizes.append(part.path.stat().st_size)
        return chapters(first_page(question), 70, 1)

    limit = book.stat().st_size // 3
    service = ScriptedService(script, limits_of=Limits(as_file=True, file_bytes=limit, pages=100))

    made = model_mapper(service).map(source_of(book), "x")

    assert max(sizes) <= limit
    assert len(sizes) >= 3
    assert [] == map_issues(made)


def test_a_file_that_cannot_be_made_small_enough_is_refused_before_anything_is_sent(book: Path) -> None:
    service = ScriptedService([], limits_of=Limits(as_file=True, file_bytes=200))

    with pytest.raises(MapperUnavailable, match=r"scripted accepts at most 0\.0 MB\. .* Nothing was sent"):
        model_mapper(service).map(source_of(book), "x")

    assert 0 == service.sessions


def test_more_pieces_than_requests_are_refused_before_anything_is_sent(book: Path) -> None:
    service = ScriptedService([], limits_of=Limits(as_file=True, pages=20))

    with pytest.raises(
        MapperUnavailable, match=r"at least 1. requests to scripted, but the limit is 5.*--max-requests"
    ):
        model_mapper(service, max_requests=5).map(source_of(book), "x")

    assert 0 == service.sessions


@pytest.mark.long
def test_no_more_pieces_are_asked_about_at_once_than_allowed(book: Path) -> None:
    lock = threading.Lock()
    both = threading.Barrier(2)
    state = {"now": 0, "most": 0, "asked": 0}

    class Counting(ScriptedService):
        def ask(self, question: Question, progress: object) -> Reply:
            with lock:
                state["now"] += 1
                state["most"] = max(state["most"], state["now"])
                first_two = state["asked"] < 2
                state["asked"] += 1
            if first_two:
                both.wait(30)
            with lock:
                state["now"] -= 1
            return Reply(nodes((1, f"Number {first_page(question)} of all", 1, 1)), True, Usage(1, 1, 1))

    service = Counting([], limits_of=Limits(as_file=True, pages=50))

    made = model_mapper(service, concurrency=2).map(source_of(book), "x")

    assert 2 == state["most"]
    assert made.metadata["usage"]["requests"] == len(made.nodes)
    assert [] == map_issues(made)


def test_one_piece_that_fails_stops_the_others_and_is_the_error(book: Path) -> None:
    def script(question: Question) -> str | Exception:
        return MapperUnavailable("Only this one.") if first_page(question) > 1 else chapters(1, 190, 1)

    service = ScriptedService(script)

    with pytest.raises(MapperUnavailable, match="Only this one"):
        model_mapper(service).map(source_of(book), "x")

    assert 0 == service.open_sessions


def test_a_long_job_stops_when_nobody_wants_it(book: Path) -> None:
    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        if message == "asking the script":
            raise Cancelled("nobody wants it")

    service = ScriptedService([chapters(1, 190, 1)] * 2)

    with pytest.raises(Cancelled, match="nobody wants it"):
        model_mapper(service).map(source_of(book), "x", give_up)

    assert 0 == service.open_sessions


@pytest.mark.long
def test_a_pdf_is_sent_as_text_to_a_service_without_files(book: Path) -> None:
    service = ScriptedService(
        [chapters(1, COUNT, 1)], limits_of=Limits(as_file=False)
    )  # all text fits into one question

    made = model_mapper(service).map(source_of(book), "x")

    assert "=== page 31 ===\nBeta decay" in prompt_text(service.questions[0])
    assert EXPECTED == rows_of(made)


def test_a_long_text_is_cut_at_its_headings_and_keeps_its_line_numbers(tmp_path: Path) -> None:
    parts = [f"# Part {n}\n\n" + f"words of part {n}\n" * 40 for n in range(1, 9)]
    (tmp_path / "long.md").write_text("".join(parts))

    def script(question: Question) -> str:
        shown = re.findall(r"^(\d+)\| (.*)$", question.parts[0].text, re.M)  # type: ignore[union-attr]
        heads = [(int(n), text[2:]) for n, text in shown if text.startswith("# ")]
        ends = [n - 1 for n, _ in heads[1:]] + [int(shown[-1][0])]
        return nodes(*((1, title, n, end) for (n, title), end in zip(heads, ends, strict=True)), unit="line")

    service = ScriptedService(script, limits_of=Limits(as_file=False, characters=2500))

    made = model_mapper(service).map(source_of(tmp_path / "long.md"), "x")

    assert [(1, f"Part {n}", (42 * (n - 1) + 1, 42 * n)) for n in range(1, 9)] == rows_of(made)
    assert len(service.questions) > 2


def test_a_part_that_goes_on_in_the_next_piece_is_one_part(tmp_path: Path) -> None:
    (tmp_path / "flat.txt").write_text("just a line of words\n" * 200)

    def script(question: Question) -> str:
        shown = re.findall(r"^(\d+)\|", question.parts[0].text, re.M)  # type: ignore[union-attr]
        first, last = int(shown[0]), int(shown[-1])
        title = "The words" if first == 1 else "The words (continued)"
        return nodes((1, title, first, last), (2, f"Line of words {first}", first, last), unit="line")

    service = ScriptedService(script, limits_of=Limits(as_file=False, characters=2500))

    made = model_mapper(service).map(source_of(tmp_path / "flat.txt"), "x")

    assert (1, "The words", (1, 200)) == rows_of(made)[0]
    assert len(service.questions) == len(made.nodes[0].children) > 1


SUBTITLES = "\n".join(
    f"{n + 1}\n00:00:0{n},000 --> 00:00:0{n},900\nSentence number {n} about dogs.\n" for n in range(5)
)


@pytest.mark.long
def test_a_video_is_sent_as_subtitles_and_stills_to_a_service_without_video(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=6)
    (tmp_path / "film.srt").write_text(SUBTITLES)
    service = ScriptedService([nodes((1, "Dogs", 0, 5), unit="second", title="Dogs")], limits_of=Limits(as_file=False))
    taken: list[float] = []

    def still(path: Path, time: float) -> bytes:
        taken.append(time)
        return b"\xff\xd8 a picture"

    made = model_mapper(service, stills=still).map(source_of(film), "x")

    shown = [part for part in service.questions[0].parts if isinstance(part, ImagePart)]
    assert "[2.0-2.9] Sentence number 2 about dogs." in prompt_text(service.questions[0])
    assert taken
    assert [f"the picture at {time:.1f} s (0:0{int(time)})" for time in taken] == [part.label for part in shown]
    assert [
        "The mapper scripted sent the subtitles and still pictures of the recording, not the recording itself."
    ] == made.metadata["notes"]


def test_a_recording_of_which_nothing_can_be_shown_is_refused() -> None:
    service = ScriptedService([], limits_of=Limits(as_file=False))

    with pytest.raises(
        MapperUnavailable, match=r"accepts no ogg files, and the recording has no subtitles.*Nothing was sent"
    ):
        model_mapper(service).map(source_of(SHIPPED / "lena.ogg"), "x")

    assert 0 == service.sessions


@pytest.mark.long
def test_times_in_a_clip_are_counted_from_its_beginning(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=8, chapters=[(0, 3, "Start"), (3, 5, "Middle"), (5, 8, "End")])
    cut: list[tuple[float, float]] = []

    def clip(path: Path, start: float, end: float, folder: Path) -> Path:
        cut.append((start, end))
        (folder / f"{start}.mp4").write_bytes(b"clip")
        return folder / f"{start}.mp4"

    def script(question: Question) -> str:
        (part,) = [part for part in question.parts if isinstance(part, FilePart)]
        return nodes((1, f"From {part.path.stem}", 0, 2), unit="second")

    service = ScriptedService(script, limits_of=Limits(as_file=True, seconds=4))

    made = model_mapper(service, clips=clip).map(source_of(film), "x")

    assert [(1, f"From {start}", (start, start + 2)) for start, _ in sorted(cut)] == rows_of(made)
    assert (0.0, 3.0) == sorted(cut)[0]
    assert all(end - start <= 4.1 for start, end in cut)


def test_dropped_nodes_of_a_piece_say_which_piece(book: Path) -> None:
    def script(question: Question) -> str:
        first = first_page(question)
        answer = json.loads(chapters(first, 190 if first == 1 else 70, 1))
        answer["nodes"].append({"level": 1, "title": "Zeta", "first_page": 900, "last_page": 901})
        return json.dumps(answer)

    made = model_mapper(ScriptedService(script)).map(source_of(book), "x")

    assert ["part 1: nodes[3].first_page", "part 2: nodes[2].first_page"] == [
        line.rpartition(": pages")[0] for line in made.metadata["dropped"]
    ]
    assert EXPECTED == rows_of(made)


@given(
    st.lists(st.integers(1, 30), max_size=60),
    st.integers(1, 100),
    st.dictionaries(st.integers(0, 60), st.integers(1, 4)),
)
def test_pieces_cover_everything_in_order_within_the_limit(
    costs: list[int], limit: int, borders: dict[int, int]
) -> None:
    found = split_ranges([float(cost) for cost in costs], limit, borders)

    assert list(range(len(costs))) == [n for start, end in found for n in range(start, end)]
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert all(sum(costs[start:end]) <= limit or end == start + 1 for start, end in found)


@pytest.mark.long
def test_a_service_without_a_further_line_says_so() -> None:
    with pytest.raises(MapperUnavailable, match="no more answers"):
        model_mapper([recorded("document_as_0_2.txt")[:40]]).map(source_of(SHIPPED / "r-intro.pdf"), "x")


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> Path:
    heads = ["Abstract", "Introduction", "Related work", "Method", "Results", "Discussion"]
    pages = [f"{head if half == 0 else ''}\nWhat stands there, part {half}." for head in heads for half in (0, 1)]
    return write_pdf(tmp_path_factory.mktemp("article") / "article.pdf", pages)


@pytest.mark.long
@given(st.integers(-40, 4000))
def test_any_constant_offset_of_pages_gives_the_same_map(article: Path, offset: int) -> None:
    heads = ["Abstract", "Introduction", "Related work", "Method", "Results", "Discussion"]
    rows = [(1, head, 2 * n + 1, 2 * n + 2) for n, head in enumerate(heads)]
    answer = nodes(*((level, head, first + offset, last + offset) for level, head, first, last in rows))

    made = model_mapper([answer]).map(source_of(article), "x")

    assert [(level, head, (first, last)) for level, head, first, last in rows] == rows_of(made)
    assert bool(offset) == any("page numbers of the model" in note for note in made.metadata.get("notes", []))


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["r-exts.pdf", "debian-reference-ja.pdf", "the-time-machine.pdf"])
@pytest.mark.parametrize("offset", [0, 12, -3])
def test_offsets_are_found_in_real_books(corpus: Path, name: str, offset: int) -> None:
    source = source_of(corpus / "pdf" / name)
    known = LOCAL.map(source, "x")
    answer = json.loads(answer_of(known, source))["nodes"]

    def script(question: Question) -> str:
        piece = re.search(r"pages (\d+)-(\d+)\. The attached", prompt_text(question))
        first, last = (int(piece[1]), int(piece[2])) if piece else (1, 10**6)
        inside = [node for node in answer if first <= node["first_page"] <= last]
        by = offset + 1 - first
        return json.dumps(
            [
                {**node, "first_page": node["first_page"] + by, "last_page": min(node["last_page"], last) + by}
                for node in inside
            ]
        )

    made = model_mapper(ScriptedService(script)).map(source, "x")

    assert rows_of(known) == rows_of(made)


def test_sound_in_a_container_for_films_goes_up_as_sound(tmp_path: Path) -> None:
    sound = write_audio(tmp_path / "talk.mp4", seconds=3, codec="aac")
    service = ScriptedService([nodes((1, "All of it", 0, 2), unit="second")])

    model_mapper(service).map(source_of(sound), "x")

    (part,) = [part for part in service.questions[0].parts if isinstance(part, FilePart)]
    assert "audio/mp4" == part.media_type


def test_requests_of_many_files_share_the_request_slots(tmp_path: Path) -> None:
    lock, state, three = threading.Lock(), {"now": 0, "most": 0}, threading.Barrier(3)

    class Counting(ScriptedService):
        def ask(self, question: Question, progress: object) -> Reply:
            with lock:
                state["now"] += 1
                state["most"] = max(state["most"], state["now"])
            three.wait(30)
            with lock:
                state["now"] -= 1
            return Reply(nodes((1, "Words of", 1, 1), unit="line"), True, Usage(1, 1, 1))

    mapper = model_mapper(Counting([], limits_of=Limits(as_file=False)), concurrency=3, files=1)
    files = [tmp_path / f"{n}.txt" for n in range(9)]
    for n, path in enumerate(files):
        path.write_text(f"words of {n}\n")

    with ThreadPoolExecutor(9) as pool:
        made = list(pool.map(lambda path: mapper.map(source_of(path), "x"), files))

    assert (9, 3) == (len(made), state["most"])
