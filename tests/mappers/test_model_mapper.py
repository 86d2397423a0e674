"""A model's map is believed only as far as the file bears it out: recorded answers with the faults that models make."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Limits, Reply
from citekit.adapters.mappers.llm.prompt import PROMPT_VERSION
from citekit.domain.errors import Cancelled, FaultyAnswer, MapperUnavailable, SourceUnsupported
from citekit.domain.formats import BY_SUFFIX, Format
from citekit.domain.model_usage import Usage
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues
from tests.doubles.model_service import ScriptedService
from tests.made_files import NAMES, make_all
from tests.mappers.model_talks import (
    LOCAL,
    answer_of,
    codec_of,
    model_mapper,
    nodes,
    prompt_text,
    recorded,
    rows_of,
    source_of,
    write_pdf,
)

SHIPPED = Path(str(files("citekit"))) / "samples"

FAULTY: dict[str, tuple[str, tuple[str, ...], str]] = {
    "an invented page, a reversed range, printed page numbers": (
        "r-intro.pdf",
        ("document_printed_pages.txt", "document_mended.json"),
        "bbox",
    ),
    "an answer that breaks off": ("r-intro.pdf", ("document_cut_off.txt", "document_rest.json"), "bbox"),
    "the form of 0.2": ("r-intro.pdf", ("document_as_0_2.txt",), "bbox"),
    "lines that are nearly right": ("PDDocument.java", ("text_java.json", "text_java_mended.json"), "bbox"),
    "times of the clock": ("run.mp4", ("video_clock_times.txt", "video_clock_times.txt"), "bbox"),
    "times after the end": ("lena.ogg", ("audio_hallucinated_times.json",) * 2, "bbox"),
    "thousandths": ("imageTextN.png", ("image_box_2d.txt",) * 2, "box_2d"),
}


@lru_cache
def mapped(name: str) -> tuple[ResourceMap, ScriptedService]:
    file, answers, boxes = FAULTY[name]
    service = ScriptedService([recorded(answer) for answer in answers], boxes=boxes)
    return model_mapper(service).map(source_of(SHIPPED / file), "x"), service


def locations(made: ResourceMap) -> dict[str, Any]:
    return {title: location for _, title, location in rows_of(made)}


@pytest.mark.parametrize("name", FAULTY)
def test_every_recorded_answer_results_in_a_valid_map(name: str) -> None:
    made, _ = mapped(name)

    assert [] == map_issues(made)


@pytest.fixture(scope="module")
def printed() -> tuple[ResourceMap, ScriptedService]:
    return mapped("an invented page, a reversed range, printed page numbers")


class TestPrintedPages:
    def test_a_constant_offset_is_taken_out_of_all_pages(self, printed: tuple[ResourceMap, ScriptedService]) -> None:
        made, _ = printed

        found = locations(made)

        assert [(8, 13), (64, 64), (106, 107)] == [
            found[title] for title in ("1 Introduction and preliminaries", "Linear models", "C The command-line editor")
        ]
        assert any("too low by 6" in note for note in made.metadata["notes"])

    def test_a_node_moves_to_the_next_page_if_its_title_is_there(
        self, printed: tuple[ResourceMap, ScriptedService]
    ) -> None:
        made, _ = printed

        assert (24, 25) == locations(made)["Ordered factors"]

    def test_case_does_not_matter_to_titles(self, printed: tuple[ResourceMap, ScriptedService]) -> None:
        made, _ = printed

        assert (41, 41) == locations(made)["EDITING DATA"]

    def test_faults_go_back_once_as_lines_of_path_and_reason(
        self, printed: tuple[ResourceMap, ScriptedService]
    ) -> None:
        _, service = printed

        words = prompt_text(service.questions[1])

        assert 2 == len(service.questions)
        assert "nodes[34].first_page: pages 3702-3703: the start is after the last page here, which is 107" in words
        assert "nodes[65].last_page: pages 51-49: the end does not come after the start ('Scope')" in words

    def test_corrections_of_the_model_are_accepted(self, printed: tuple[ResourceMap, ScriptedService]) -> None:
        made, _ = printed

        found = locations(made)

        assert [(27, 28), (55, 57)] == [found["Index matrices"], found["Scope"]]

    def test_remaining_faults_are_left_out_and_listed(self, printed: tuple[ResourceMap, ScriptedService]) -> None:
        made, _ = printed

        (dropped,) = made.metadata["dropped"]

        assert dropped.startswith("nodes[107].first_page: ")
        assert "Appendix G: Bayesian Networks in R" in dropped
        assert "Appendix G: Bayesian Networks in R" not in locations(made)


def test_a_truncated_answer_is_continued_after_its_last_complete_node() -> None:
    made, service = mapped("an answer that breaks off")

    words = prompt_text(service.questions[1])

    assert "cut off" in words
    assert "Graphics parameters list" in words
    assert "Device drivers" not in words.rpartition("Your answer was cut off")[2]
    assert (107, 2) == (made.node_count, made.metadata["usage"]["requests"])
    assert [] == made.metadata.get("dropped", [])


def test_the_answer_form_of_version_0_2_is_accepted() -> None:
    made, _ = mapped("the form of 0.2")

    assert [(1, (8, 13)), (2, (8, 9)), (2, (10, 11)), (1, (26, 34)), (2, (31, 31))] == [
        (level, location) for level, _, location in rows_of(made)
    ]


def test_lines_snap_to_nearly_matching_definitions() -> None:
    made, _ = mapped("lines that are nearly right")

    found = locations(made)

    assert {
        "class PDDocument": (80, 1794),
        "addPage(PDPage page)": (258, 267),
        "PDDocument.findSignatureField": (492, 516),
        "importPage": (751, 791),
        "close()": (1570, 1614),
    }.items() <= found.items()


def test_the_nearest_of_several_definitions_with_one_name_is_used() -> None:
    made, _ = mapped("lines that are nearly right")

    assert (741, 749) == locations(made)["removePage(int pageNumber)"]


def test_a_definition_that_is_elsewhere_is_sent_back_with_its_lines() -> None:
    made, service = mapped("lines that are nearly right")

    assert "nodes[6].first_line: 'getEncryption' is on lines 877-892, not on lines 1312-1330" in prompt_text(
        service.questions[1]
    )
    assert (877, 892) == locations(made)["getEncryption()"]


def test_clock_times_are_parsed_and_clipped_to_the_duration() -> None:
    made, _ = mapped("times of the clock")

    assert [
        (1, "The dog runs towards the camera", (0.0, 3.0)),
        (2, "Close-up", (2.0, 3.0)),
        (1, "It turns away", (3.0, 5.005)),
    ] == rows_of(made)


def test_siblings_are_put_in_order_of_time() -> None:
    made, _ = mapped("times after the end")

    assert ["First half", "Second half"] == [node.title for node in made.nodes]
    assert "Applause" in made.metadata["dropped"][0]


def test_thousandths_from_the_top_left_become_fractions() -> None:
    made, _ = mapped("thousandths")

    assert [
        (1, "The text", (0.052, 0.065, 0.955, 0.995)),
        (2, "Letter at the left", (0.052, 0.3, 0.2, 0.6)),
    ] == rows_of(made)
    assert ["A cat", "Swapped"] == [line.rpartition("('")[2].rstrip("')") for line in made.metadata["dropped"]]


def test_paragraphs_of_a_book_become_characters_of_its_chapters(tmp_path: Path) -> None:
    book = make_all(tmp_path)["book.epub"]

    made = model_mapper([recorded("book_chapters.json")] * 2).map(source_of(book), "x")

    assert [
        (1, "The Beginning", (1, 1, None)),
        (2, "A Section", (1, 1, (36, 70))),
        (1, "The End", (2, 2, None)),
    ] == rows_of(made)
    assert [
        "nodes[3].first_chapter: chapter 9 does not exist; the chapters are numbered from 1 to 2 ('Epilogue')"
    ] == made.metadata["dropped"]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_answer_about_any_format_keeps_its_locations(tmp_path: Path, name: str) -> None:
    source = source_of(make_all(tmp_path)[name])
    known = LOCAL.map(source, "x")

    made = model_mapper([answer_of(known, source)]).map(source, "x")

    codec = codec_of(known, source)  # pages, lines, paragraphs: what stands between two of these is nobody's
    assert [(node.title, codec.from_location(node.location)) for node in known.walk()] == [
        (node.title, codec.from_location(node.location)) for node in made.walk()
    ]
    assert [] == map_issues(made)


class TestMetadata:
    @pytest.fixture
    def made(self) -> ResourceMap:
        return mapped("thousandths")[0]

    def test_the_metadata_of_the_local_map_is_preserved(self, made: ResourceMap) -> None:
        known = LOCAL.map(source_of(SHIPPED / "imageTextN.png"), "x").metadata

        facts = ("source_hash", "source_size", "dimensions", "format")

        assert [known[name] for name in facts] == [made.metadata[name] for name in facts]

    def test_usage_adds_up_over_all_requests(self) -> None:
        faulty = nodes((1, "One", 0, 4), (1, "Late", 80, 90), unit="second")
        service = ScriptedService(
            [Reply(faulty, True, Usage(2, 100, 10)), Reply("{}", True, Usage(1, 120, 5), ("It took text instead.",))]
        )

        made = model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert {"requests": 3, "input_tokens": 220, "output_tokens": 15} == made.metadata["usage"]
        assert ["It took text instead.", UNCHECKED] == made.metadata["notes"]

    def test_the_identity_names_service_model_and_version_of_the_prompt(self, made: ResourceMap) -> None:
        mapper = model_mapper([])

        assert ("scripted", "script") == (mapper.identity.name, mapper.identity.model)
        assert mapper.identity.version.startswith(f"{PROMPT_VERSION}.")
        assert mapper.identity == made.mapper

    def test_the_notes_of_the_local_map_do_not_hold_for_this_one(self) -> None:
        made = model_mapper([nodes((1, "All", 0, 5), unit="second")]).map(source_of(SHIPPED / "run.mp4"), "x")

        assert [UNCHECKED] == made.metadata["notes"]


UNCHECKED = "No title could be checked, because the file has no machine-readable text at the locations of the nodes."


class TestTooLittle:
    def test_an_answer_without_a_right_node_is_an_error(self) -> None:
        service = ScriptedService([nodes((1, "Ending", 300, 310), unit="second")] * 2)

        with pytest.raises(
            FaultyAnswer, match=r"scripted \(script\) made from .*run.mp4 is not valid: nodes\[0\].start: seconds 300"
        ):
            model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert (2, 0) == (len(service.questions), service.open_sessions)

    def test_less_than_a_third_of_right_nodes_is_an_error(self) -> None:
        given = nodes((1, "Right", 0, 1), *((1, f"Wrong {n}", 100 + n, 200) for n in range(3)), unit="second")

        with pytest.raises(FaultyAnswer) as failure:
            model_mapper([given, given]).map(source_of(SHIPPED / "run.mp4"), "x")

        assert 3 == len(failure.value.faults)

    def test_an_empty_list_of_nodes_is_an_error(self) -> None:
        with pytest.raises(FaultyAnswer, match="nodes: the answer contains no valid nodes"):
            model_mapper(['{"title": "Nothing", "nodes": []}']).map(source_of(SHIPPED / "run.mp4"), "x")

    def test_what_is_no_answer_is_asked_again_once_with_the_complaint(self) -> None:
        service = ScriptedService(["I cannot open this file, sorry.", nodes((1, "All", 0, 5), unit="second")])

        model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert "it contains no JSON object; it begins with 'I cannot open this file, sorry.'" in prompt_text(
            service.questions[1]
        )

    def test_what_is_no_answer_twice_is_an_error(self) -> None:
        service = ScriptedService(["", "[oops"])

        with pytest.raises(FaultyAnswer, match=r"from .*run\.mp4 is not valid: (?!\$)"):
            model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert 2 == len(service.questions)

    def test_an_answer_that_breaks_off_again_and_again_is_noted(self) -> None:
        given = nodes(*((1, f"Scene {n}", n / 4, n / 4 + 0.25) for n in range(20)), unit="second")
        cut = given[: len(given) // 2]
        service = ScriptedService([cut, cut, cut])

        made = model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert 2 == len(service.questions)
        assert "cut off" in made.metadata["notes"][0]


class TestWhatIsSaid:
    def test_facts_and_skeleton_of_the_local_map_are_in_the_question(self) -> None:
        _, service = mapped("the form of 0.2")

        words = prompt_text(service.questions[0])

        assert "- page_count: 113" in words
        assert "r-intro.pdf" in words
        assert "- 11 Statistical models in R (first_page 61, last_page 73)" in words

    def test_a_file_that_the_service_takes_goes_as_a_file(self) -> None:
        _, service = mapped("the form of 0.2")

        assert [FilePart(SHIPPED / "r-intro.pdf", "application/pdf")] == [
            part for part in service.questions[0].parts if isinstance(part, FilePart)
        ]

    def test_the_lines_of_a_text_are_numbered(self) -> None:
        _, service = mapped("lines that are nearly right")

        assert "\n81|  * This is the in-memory" in prompt_text(service.questions[0])

    @pytest.mark.parametrize("name", FAULTY)
    def test_the_schema_is_flat_and_requires_everything(self, name: str) -> None:
        _, service = mapped(name)

        schema = service.questions[0].schema
        node = schema["properties"]["nodes"]["items"]

        assert {"title", "nodes"} == set(schema["required"])
        assert list(node["properties"]) == node["required"]
        assert "$ref" not in json.dumps(schema)
        assert not any(isinstance(field.get("type"), list) for field in node["properties"].values())

    def test_a_picture_that_is_stored_turned_is_drawn_upright(self, tmp_path: Path) -> None:
        from PIL import Image

        picture = Image.new("RGB", (60, 20), "white")
        exif = picture.getexif()
        exif[0x0112] = 6
        picture.save(tmp_path / "turned.jpg", exif=exif)
        box = json.dumps({"title": "T", "nodes": [{"level": 1, "title": "All", "bbox": [0, 0, 1, 1]}]})
        service = ScriptedService([box])

        model_mapper(service).map(source_of(tmp_path / "turned.jpg"), "x")

        (shown,) = [part for part in service.questions[0].parts if isinstance(part, ImagePart)]
        (tmp_path / "shown.jpg").write_bytes(shown.data)
        with Image.open(tmp_path / "shown.jpg") as upright:
            assert (20, 60) == upright.size


class TestPorts:
    def test_formats_that_the_service_cannot_map_are_not_supported(self) -> None:
        def only_text(format: Format) -> Limits | None:
            return Limits(as_file=False) if format.name == "python" else None

        mapper = model_mapper(ScriptedService([], limits_of=only_text))

        assert mapper.supports(BY_SUFFIX[".py"])
        assert not mapper.supports(BY_SUFFIX[".pdf"])
        with pytest.raises(SourceUnsupported, match="scripted cannot map mp4 files"):
            mapper.map(source_of(SHIPPED / "run.mp4"), "x")

    @pytest.mark.parametrize("suffix", [".pptx", ".xlsx", ".cbz"])
    def test_documents_that_are_neither_a_pdf_nor_a_book_are_not_supported(self, suffix: str) -> None:
        mapper = model_mapper(ScriptedService([]))

        assert not mapper.supports(BY_SUFFIX[suffix])
        assert mapper.supports(BY_SUFFIX[".docx"])

    def test_errors_of_the_service_come_through_and_the_session_ends(self) -> None:
        service = ScriptedService([MapperUnavailable("The service is down.")])

        with pytest.raises(MapperUnavailable, match="The service is down"):
            model_mapper(service).map(source_of(SHIPPED / "run.mp4"), "x")

        assert (1, 0) == (service.sessions, service.open_sessions)

    def test_it_stops_when_nobody_wants_the_map(self) -> None:
        def give_up(done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("nobody wants it")

        service = ScriptedService([nodes((1, "All", 1, 113))])

        with pytest.raises(Cancelled):
            model_mapper(service).map(source_of(SHIPPED / "r-intro.pdf"), "x", give_up)

        assert [] == service.questions

    def test_the_same_answers_give_the_same_map(self) -> None:
        assert mapped("thousandths")[0] == mapped.__wrapped__("thousandths")[0]


def test_a_page_list_with_gaps_stays_a_list(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [f"Head {n}\nSome text on this page." for n in range(1, 7)])
    given = json.dumps({"title": "T", "nodes": [{"level": 1, "title": "About heads", "pages": [2, 3, 6]}]})

    made = model_mapper([given]).map(source_of(path), "x")

    assert (2, 3, 6) == made.nodes[0].location.numbers  # type: ignore[union-attr]
