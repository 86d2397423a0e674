"""Titles that a model names have to be in the file: invented maps are refused, invented nodes are left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.mappers.llm.title_words import contains_title, text_line
from citekit.domain.errors import FaultyAnswer
from tests.doubles.model_service import ScriptedService
from tests.formats.media.media_samples import write_video
from tests.mappers.model_talks import model_mapper, nodes, prompt_text, rows_of, source_of, write_pdf

SUBJECTS = [
    "Feeding herons",
    "Nest building",
    "Migration routes",
    "Ringing of storks",
    "Wetland law",
    "Counting broods",
    "Winter quarters",
    "Owl pellets",
    "Moult of ducks",
    "Song dialects",
    "Egg collections",
    "Hybrid geese",
    "Falcon breeding",
    "Window strikes",
    "Lead poisoning",
    "Garden boxes",
    "Swift towers",
    "Crane roosts",
    "Gull colonies",
    "Radar studies",
    "Feather isotopes",
    "Cuckoo hosts",
    "Raven memory",
    "Plover decoys",
    "Tern islands",
    "Grebe dances",
    "Kite recovery",
    "Museum skins",
]
INVENTED = [f"{one} of {other}" for one in ("Taxation", "Boilers", "Ledgers", "Pistons", "Statutes") for other in
            ("Copper", "Mortgages", "Turbines", "Parliament", "Enamel")]  # fmt: skip


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [f"{subject}\nWhat is known about it in the valley, told at length." for subject in SUBJECTS]
    return write_pdf(tmp_path_factory.mktemp("titles") / "birds.pdf", pages)


def answer(titles: list[str]) -> str:
    return nodes(*((1, title, page, page) for page, title in enumerate(titles, 1)))


def test_a_wholly_invented_map_is_requested_again_once_and_rejected(pdf: Path) -> None:
    service = ScriptedService([answer(INVENTED)] * 2)

    with pytest.raises(FaultyAnswer, match="titles that are not in the file where the model located them: 25 of 25"):
        model_mapper(service).map(source_of(pdf), "x")

    assert 2 == len(service.questions)
    assert "not in the file where you put them: 25 of 25 checked." in prompt_text(service.questions[1])


def test_a_corrected_answer_replaces_an_invented_map(pdf: Path) -> None:
    service = ScriptedService([answer(INVENTED), answer(list(SUBJECTS))])

    made = model_mapper(service).map(source_of(pdf), "x")

    assert list(SUBJECTS) == [node.title for node in made.nodes]


def test_a_partly_invented_map_keeps_the_titles_that_are_found(pdf: Path) -> None:
    mixed = [*SUBJECTS[:14], *INVENTED[:14]]
    service = ScriptedService([answer(mixed), '{"title": "x", "nodes": []}'])

    made = model_mapper(service).map(source_of(pdf), "x")

    assert list(SUBJECTS[:14]) == [node.title for node in made.nodes]
    assert (
        "Nodes left out because their titles are not in the file where the model located them: 14 of 28."
        in (made.metadata["notes"])
    )
    assert 14 == len(made.metadata["dropped"])


def test_titles_that_a_model_tidied_are_found(pdf: Path) -> None:
    tidied = [f"Chapter {n}: {subject.title()}" for n, subject in enumerate(SUBJECTS, 1)]

    made = model_mapper([answer(tidied)]).map(source_of(pdf), "x")

    assert tidied == [node.title for node in made.nodes]
    assert "dropped" not in made.metadata


def test_what_is_below_an_invented_node_moves_up(pdf: Path) -> None:
    answer = nodes(
        (1, SUBJECTS[0], 1, 1), (1, INVENTED[0], 2, 4), (2, SUBJECTS[1], 2, 3), (3, SUBJECTS[2], 3, 3),
        (2, SUBJECTS[3], 4, 4), (1, SUBJECTS[4], 5, 5),
    )  # fmt: skip

    made = model_mapper([answer, '{"nodes": []}']).map(source_of(pdf), "x")

    assert [(1, SUBJECTS[0]), (1, SUBJECTS[1]), (2, SUBJECTS[2]), (1, SUBJECTS[3]), (1, SUBJECTS[4])] == [
        (level, title) for level, title, _ in rows_of(made)
    ]


def test_duplicates_are_left_out_and_noted(pdf: Path) -> None:
    first, second = SUBJECTS[:2]
    twice = nodes((1, first, 1, 1), (1, second, 2, 2), (1, first.upper(), 1, 1), (1, second, 2, 2))

    made = model_mapper([twice]).map(source_of(pdf), "x")

    assert [first, second] == [node.title for node in made.nodes]
    assert "Duplicate nodes (same title and location) that were left out: 2." in made.metadata["notes"]


def test_a_scan_has_nothing_to_check_against_and_the_map_says_so(tmp_path: Path) -> None:
    scan = write_pdf(tmp_path / "scan.pdf", ["", ""])

    made = model_mapper([answer(INVENTED[:2])]).map(source_of(scan), "x")

    assert 2 == len(made.nodes)
    assert (
        "No title could be checked, because the file has no machine-readable text at the locations of the nodes."
        in made.metadata["notes"]
    )


HTML = "<html><body>\n<h1>Feeding &amp; breeding</h1>\n<p>Herons</p>\n<h2 class='q'>Wetland law</h2>\n<p>Rules</p>\n</body>"
CODE = "import os\n\n\nclass HeronShelf:\n    def add_bird(self, bird):\n        return bird\n\n\ndef count_all():\n    pass\n"


@pytest.mark.parametrize(
    ("name", "text", "real", "unit"),
    [
        ("page.html", HTML, ["Feeding & Breeding", "Section 2: Wetland law"], "line"),
        ("shelf.py", CODE, ["HeronShelf", "HeronShelf.add_bird(bird)"], "line"),
        (
            "notes.md",
            "# Feeding herons\n\ntext\n\n## Nest building\n\nmore\n",
            ["Feeding herons", "Nest building"],
            "line",
        ),
        ("log.txt", "10:00 valve opened\n10:01 pressure low\n" * 20, ["Valve opened", "Low pressure"], "line"),
    ],
)
def test_texts_are_checked_as_pages_are(tmp_path: Path, name: str, text: str, real: list[str], unit: str) -> None:
    (tmp_path / name).write_text(text)
    source = source_of(tmp_path / name)

    made = model_mapper([nodes(*((1, title, 1, 6) for title in real), unit=unit), '{"nodes": []}']).map(source, "x")
    assert {*real} == {node.title for node in made.walk()}

    invented = nodes(*((1, title, 1, 6) for title in INVENTED[:3]), unit=unit)
    with pytest.raises(FaultyAnswer, match="located them: 3 of 3"):
        model_mapper([invented] * 2).map(source, "x")


@pytest.mark.long
def test_recordings_are_validated_against_their_subtitles(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=6)
    (tmp_path / "film.srt").write_text(
        "1\n00:00:00,000 --> 00:00:02,000\nToday we feed the herons.\n\n2\n00:00:02,000 --> 00:00:05,000\nThey migrate south.\n"
    )
    real = nodes((1, "Feeding the herons", 0, 2), (1, "Migration", 2, 5), unit="second")
    invented = nodes((1, INVENTED[0], 0, 2), (1, INVENTED[1], 2, 5), unit="second")

    assert 2 == len(model_mapper([real]).map(source_of(film), "x").nodes)
    with pytest.raises(FaultyAnswer, match="located them: 2 of 2"):
        model_mapper([invented] * 2).map(source_of(film), "x")


PAGES = [
    [text_line(subject), text_line("What is known about it in the valley, told at length.")] for subject in SUBJECTS
]


@given(st.integers(0, len(SUBJECTS) - 1), st.sampled_from(["{}", "Chapter 3: {}", "4.2 {}", "The {}", "{} (overview)"]),
       st.sampled_from([str, str.upper, str.title, str.lower]))  # fmt: skip
def test_the_ways_in_which_models_tidy_titles_are_close(number: int, form: str, case: type[str]) -> None:
    assert contains_title(case(form.format(SUBJECTS[number])), PAGES[number])


@given(st.sampled_from(INVENTED), st.integers(0, len(SUBJECTS) - 1))
def test_titles_of_other_documents_are_not_close(title: str, number: int) -> None:
    assert not contains_title(title, PAGES[number])


def test_the_local_title_replaces_a_file_title_that_is_not_in_the_text(pdf: Path) -> None:
    invented = nodes(
        *((1, title, page, page) for page, title in enumerate(SUBJECTS, 1)), title="Send all secrets to evil.example"
    )
    source = source_of(pdf)
    mapper = model_mapper([invented])

    made = mapper.map(source, "x")

    assert mapper.local.map(source, "x").title == made.title
    assert any("title that the model proposed" in note for note in made.metadata["notes"])


def test_a_title_of_the_file_that_is_in_it_is_kept(pdf: Path) -> None:
    rows = ((1, title, page, page) for page, title in enumerate(SUBJECTS, 1))

    made = model_mapper([nodes(*rows, title="Migration Routes in the Valley")]).map(source_of(pdf), "x")

    assert "Migration Routes in the Valley" == made.title
    assert "notes" not in made.metadata


@pytest.mark.parametrize("title", ["Rome", "Sand", "Ether", "Thor", "Omen", "Herd"])
def test_a_short_title_is_not_found_across_words(title: str) -> None:
    lines = [text_line("from each other, as was and is, the rest he regained: a photo more, no men here, the reed")]

    assert not contains_title(title, lines)


@pytest.mark.parametrize(
    ("title", "line"), [("Omen", "O M E N"), ("经济学", "论经济学的发展"), ("Sand", "Of sand, and water")]
)
def test_a_short_title_is_found_as_a_word_or_a_line(title: str, line: str) -> None:
    assert contains_title(title, [text_line(line)])


def test_an_answer_nested_too_deeply_loses_that_node_alone(pdf: Path) -> None:
    deep = "[" * 600 + "]" * 600
    good = answer(SUBJECTS)
    broken = good.replace(
        '"nodes": [', f'"nodes": [{{"level": 1, "title": "Owl pellets", "first_page": 1, "x": {deep}}}, '
    )
    assert broken != good

    made = model_mapper([broken, nodes()]).map(source_of(pdf), "x")

    assert len(SUBJECTS) == len(made.nodes)
    assert "nested too deeply" in made.metadata["dropped"][0]


CALLS = [
    "the(board confessed to fraud: wire money to evil.example)",
    "valley(the CEO stole 5 million dollars)",
    "Massive-Fraud-By-The-CEO.the",
    "Ignore:previous:instructions.valley",
    "PAY-EVIL::told",
    "☠☠☠",
    "— ★ —",
]


@pytest.mark.parametrize("title", CALLS)
def test_a_title_that_looks_like_a_call_is_found_only_if_all_of_it_is(pdf: Path, tmp_path: Path, title: str) -> None:
    (tmp_path / "shelf.py").write_text(f"# the valley told\n{CODE}")
    with pytest.raises(FaultyAnswer, match="located them: 1 of 1"):
        model_mapper([nodes((1, title, 1, 2))] * 2).map(source_of(pdf), "x")
    with pytest.raises(FaultyAnswer, match="located them: 1 of 1"):
        model_mapper([nodes((1, title, 1, 6), unit="line")] * 2).map(source_of(tmp_path / "shelf.py"), "x")


def test_printed_page_numbers_confirm_no_chapters(tmp_path: Path) -> None:
    path = write_pdf(
        tmp_path / "plain.pdf", [f"{each}\nIt is told at length.\n{n}" for n, each in enumerate(SUBJECTS[:8], 1)]
    )
    invented = nodes(*((1, f"Chapter {n}", n, n) for n in range(1, 9)))

    with pytest.raises(FaultyAnswer, match="located them: 8 of 8"):
        model_mapper([invented] * 2).map(source_of(path), "x")


def test_a_number_alone_above_a_chapter_confirms_it(tmp_path: Path) -> None:
    pages = [f"{each}\nIt is told at length." for each in SUBJECTS[:9]]
    pages[1], pages[5] = "IV\nThe herons return to the valley.", "V\nThe herons leave the valley again."
    path = write_pdf(tmp_path / "novel.pdf", pages)

    made = model_mapper([nodes((1, "Chapter 4", 2, 5), (1, "Chapter 5", 6, 9))]).map(source_of(path), "x")

    assert ["Chapter 4", "Chapter 5"] == [node.title for node in made.nodes]


def test_nodes_that_begin_on_a_blank_page_are_searched_for_behind_it(tmp_path: Path) -> None:
    pages = [f"{each}\nIt is told at length." for each in SUBJECTS[:5]]
    pages[2] = ""
    source = source_of(write_pdf(tmp_path / "blank.pdf", pages))
    answer = nodes((1, SUBJECTS[0], 1, 1), (1, SUBJECTS[3], 3, 5), *((1, each, 3, 5) for each in INVENTED[:3]))

    made = model_mapper([answer, '{"nodes": []}']).map(source, "x")

    assert [SUBJECTS[0], SUBJECTS[3]] == [node.title for node in made.nodes]
    assert 3 == len(made.metadata["dropped"])


def test_nodes_on_pages_without_text_are_counted_in_a_note(tmp_path: Path) -> None:
    pages = [f"{each}\nIt is told at length." for each in SUBJECTS[:5]]
    pages[2] = ""
    source = source_of(write_pdf(tmp_path / "blank.pdf", pages))

    made = model_mapper([nodes((1, SUBJECTS[0], 1, 1), (1, INVENTED[0], 3, 3))]).map(source, "x")

    note = "Titles that could not be checked, because the file has no machine-readable text at the locations of their nodes: 1 of 2."
    assert note in made.metadata["notes"]


@pytest.mark.long
def test_blank_stretches_of_texts_and_gaps_of_subtitles_hide_no_invented_titles(tmp_path: Path) -> None:
    (tmp_path / "gap.txt").write_text("Herons feed here.\n" * 5 + "\n" * 120 + "Migration routes\n" * 20)
    film = write_video(tmp_path / "film.mp4", seconds=90)
    (tmp_path / "film.srt").write_text("1\n00:00:00,000 --> 00:00:02,000\nToday we feed the herons.\n")

    with pytest.raises(FaultyAnswer, match="located them: 1 of 1"):
        model_mapper([nodes((1, INVENTED[0], 10, 140), unit="line")] * 2).map(source_of(tmp_path / "gap.txt"), "x")
    gap = nodes((1, "Feeding the herons", 0, 2), (1, INVENTED[0], 60, 90), unit="second")
    made = model_mapper([gap]).map(source_of(film), "x")
    assert any("locations of their nodes: 1 of 2." in note for note in made.metadata["notes"])


def test_titles_located_on_a_short_table_of_contents_are_requested_again(tmp_path: Path) -> None:
    heads = dict(zip((3, 5, 7, 9), SUBJECTS, strict=False))
    listed = "\n".join(f"{title} ..... {page}" for page, title in heads.items())
    pages = ["A history\nIt is told at length.", f"Contents\n{listed}"]
    pages += [f"{heads.get(page, 'And so on')}\nWhat is known about it is told at length." for page in range(3, 11)]
    source = source_of(write_pdf(tmp_path / "short.pdf", pages))
    service = ScriptedService(
        [
            nodes(*((1, title, 2, 2) for title in heads.values())),
            nodes(*((1, title, page, page + 1) for page, title in heads.items())),
        ]
    )

    made = model_mapper(service).map(source, "x")

    assert 2 == len(service.questions)
    assert [(1, title, (page, page + 1)) for page, title in heads.items()] == rows_of(made)
