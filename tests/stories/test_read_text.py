"""The text of parts of mapped files is read, with the real adapters."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citekit.application.verify_quote import OTHER_HEADING
from citekit.container import Container, bootstrap
from citekit.domain.chunks import CHUNK
from citekit.domain.errors import (
    AddressMalformed,
    LocationOutside,
    NodeMissing,
    RequestRefused,
    ResourceMissing,
    SourceMoved,
    SourceUnsupported,
)
from citekit.domain.evidence import Form, Options, Receipt
from citekit.domain.locations import Pages
from citekit.domain.node import Node, NodeName
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.text_search.found import TextHit
from citekit.domain.text_search.read import ReadTextAnswer
from citekit.domain.text_search.sections import heading_span
from citekit.entrypoints.read_text import read_lines
from citekit.wire import receipts

GUIDE = """# Bees

The queen lives in the hive.

## Winter food

Bees store *honey*.

| food | grams |
|------|-------|
| wax  | 12    |
"""
CODE = "import bees\n\n\nclass Hive:\n    def queen(self):\n        # one\n        return 'hive'\n"
PAGES = 8


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "bees.md").write_text(GUIDE)
    (folder / "code.py").write_text(CODE)
    (folder / "long.txt").write_text(" ".join(f"word{number}" for number in range(2000)))
    make_report(folder / "report.pdf")
    app = bootstrap(home=folder)
    for name in ("bees.md", "code.py", "long.txt", "report.pdf"):
        app.ingest(folder / name)
    made = app.maps.get("report")
    pages = [node.location.numbers[0] for node in made.nodes if isinstance(node.location, Pages)]
    ends = [*pages[1:], PAGES]
    nodes = [
        evolve(node, location=Pages.span(first, last))
        for node, first, last in zip(made.nodes, pages, ends, strict=True)
    ]
    app.maps.put(evolve(made, nodes=nodes))
    return folder


NAMES = (
    "amber",
    "birch",
    "cedar",
    "dahlia",
    "elder",
    "fern",
    "ginger",
    "hazel",
    "iris",
    "juniper",
    "kale",
    "lotus",
    "maple",
    "nettle",
    "oak",
)


def line(edge: str, part: int, row: int) -> str:
    """A line whose words differ on every page, so that none looks like a running header."""
    return (
        f"{edge} {NAMES[(part * 7 + row) % 15]} {NAMES[(part * 4 + row * 2) % 15]} {NAMES[part]} and {NAMES[row % 15]}"
    )


def make_report(path: Path) -> None:
    """Sections that begin in the middle of a page, below a running header and above a page number; page 4 is empty."""
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for number in range(1, PAGES + 1):
            page = document.new_page()
            if number == 4:
                continue
            page.insert_text((72, 40), "Annual Report of the Hive", fontsize=8)
            page.insert_text((300, 810), str(number + 10), fontsize=8)
            for row in range(10):
                page.insert_text((72, 90 + 14 * row), line("End", number - 1, row), fontsize=10)
            page.insert_text((72, 280), f"The part called {'abcdefgh'[number - 1] * 3}", fontsize=18)
            for row in range(20):
                page.insert_text((72, 320 + 14 * row), line("Start", number, row), fontsize=10)
        toc = [[1, f"The part called {'abcdefgh'[n - 1] * 3}", n] for n in range(1, PAGES + 1) if n != 4]
        document.set_toc(toc)
        document.save(path)


@pytest.fixture
def app(home: Path) -> Container:
    return bootstrap(home=home)


def node_titled(app: Container, resource_id: str, title: str) -> str:
    return next(node.id for node in app.maps.get(resource_id).walk() if node.title == title)


def test_markdown_is_read_with_marked_headings_and_rows(app: Container) -> None:
    found = app.read_text("bees_md", node_titled(app, "bees_md", "Winter food"))

    assert "[line 5]\n## Winter food\nBees store honey.\nfood | grams\nwax | 12" == found.text
    assert ("text://bees_md#lines=5-11", ["Bees", "Winter food"]) == (str(found.address), list(found.titles))
    assert (None, None, ()) == (found.next_cursor, found.stale, tuple(found.notes))


def test_code_keeps_its_indentation(app: Container) -> None:
    found = app.read_text("code_py", "lines=5-7")

    assert "[line 5]\n    def queen(self):\n        # one\n        return 'hive'" == found.text
    assert "queen" == found.titles[-1]


def test_a_part_that_begins_in_the_middle_of_a_page_is_read_from_heading_to_heading(app: Container) -> None:
    found = app.read_text("report", node_titled(app, "report", "The part called bbb"))

    lines = found.text.split("\n")
    assert ["[page 2]", "## The part called bbb", line("Start", 2, 0)] == lines[:3]
    assert ["[page 3]", line("End", 2, 0)] == lines[22:24]
    assert line("End", 2, 9) == lines[-1]
    assert 33 == len(lines)
    assert "doc://report#pages=2-3" == str(found.address)


@pytest.mark.long
def test_text_on_a_page_of_two_parts_belongs_to_the_one_whose_heading_is_before_it(app: Container) -> None:
    mine, next_one = (node_titled(app, "report", f"The part called {letter * 3}") for letter in "bc")
    own, other = line("End", 2, 4), line("Start", 3, 4)  # both on page 3

    hits = [app.find_text(words, ["report"]).hits[0] for words in (own, other)]
    verdicts = [app.verify_quote(NodeName("report", mine), words) for words in (own, other)]

    assert [mine, next_one] == [hit.node and hit.node.id for hit in hits]
    assert [Finding.EXACT, Finding.ELSEWHERE] == [verdict.finding for verdict in verdicts]
    assert ["", OTHER_HEADING] == [verdict.places[0].note for verdict in verdicts]


def test_the_text_of_a_part_as_evidence_ends_at_the_next_heading_and_its_pages_stay_whole(app: Container) -> None:
    mine = NodeName("report", node_titled(app, "report", "The part called bbb"))

    text, pages = (app.resolve(each, options=Options(Form.TEXT)) for each in (mine, app.resolve(mine).address))
    assert text.output_path is not None
    assert text.receipt is not None
    own, whole = (each.output_path.read_text().split() for each in (text, pages) if each.output_path)

    assert ["The", "part", "called", "bbb"] == own[:4]
    assert line("End", 2, 9).split() == own[-6:]
    assert "ccc" in whole
    assert "doc://report#pages=2-3" == str(text.address) == str(pages.address)
    plain = receipts.to_plain(text.receipt)
    assert {"title": "The part called bbb", "following": ["The part called ccc"], "is_shared": True} == plain[
        "options"
    ]["section"]
    assert text.receipt == receipts.from_plain(plain, "receipt") == receipts.leniently(plain, Receipt, "receipt")
    assert app.verify.file(text.output_path).genuine


def test_a_running_header_that_repeats_a_title_is_not_its_heading() -> None:
    page = "4\nBees in winter\nThe end of spring.\n2. Bees in winter\nThey eat honey.\nBees in winter"

    assert "2. Bees in winter" == page[slice(*heading_span(page, "Bees in winter", inside=True) or ())]
    assert (2, 16) == heading_span(page, "Bees in winter")
    assert "They eat honey." == page[slice(*heading_span(page, "They eat hon...") or ())]


def test_the_chunks_of_the_library_change_nothing_that_is_read_or_found(tmp_path: Path) -> None:
    make_report(tmp_path / "report.pdf")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "report.pdf")
    made = app.maps.get("report")
    before = [(app.read_text("report", node.id), app.find_text(node.title).hits) for node in made.nodes]
    chunks = [
        evolve(node, children=[Node(f"{node.id}.chunk_{number}_00ff", f"Chunk {number}", CHUNK, node.location)])
        for number, node in enumerate(made.nodes)
    ]
    app.maps.put(evolve(made, nodes=chunks))

    after = [(app.read_text("report", node.id), app.find_text(node.title).hits) for node in made.nodes]

    def words(answers: list[tuple[ReadTextAnswer, Sequence[TextHit]]]) -> list[object]:
        return [
            (read.text, read.notes, read.titles, [(hit.text, hit.titles, hit.node and hit.node.id) for hit in hits])
            for read, hits in answers
        ]

    assert words(after) == words(before)


def test_running_headers_and_page_numbers_are_left_out_of_whole_pages(app: Container) -> None:
    text = app.read_text("report", "pages=5").text

    assert ["[page 5]", line("End", 4, 0)] == text.split("\n")[:2]
    assert "Annual Report" not in text
    assert "\n15" not in text


@pytest.mark.parametrize("size", [200, 250, 333, 500, 1_000, 5_000])
def test_a_page_without_text_is_reported_once_however_the_text_is_cut(app: Container, size: int) -> None:
    lines, cursor = list[str](), None
    while True:
        found = app.read_text("report", max_chars=size, cursor=cursor)
        lines += found.text.split("\n")
        cursor = found.next_cursor
        if cursor is None:
            break

    assert ["[page 4: no text]"] == [each for each in lines if "no text" in each]


def test_pages_without_text_are_reported(app: Container) -> None:
    assert "[page 4: no text]" in app.read_text("report", "pages=3-5").text.split("\n")
    empty = app.read_text("report", "pages=4")
    assert ("", None) == (empty.text, empty.address)
    assert "If it is a scan" in "\n".join(read_lines(empty))


def test_only_requested_pages_are_reported_as_pages_without_text(tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for text in ("The first words", "", "The middle words", "", "", "The last words"):
            document.new_page().insert_text((72, 72), text)
        document.save(tmp_path / "gaps.pdf")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "gaps.pdf")

    text = app.read_text("gaps", "pages=1-2,4-6").text

    assert "[pages 2, 4-5: no text]" in text.split("\n")
    assert "middle" not in text


def test_if_the_next_heading_is_not_on_its_page_the_whole_page_is_read_and_the_answer_says_so(home: Path) -> None:
    app = bootstrap(home=home)
    made = app.maps.get("report")
    titled = [evolve(node, title=f"Chapter of {node.id}") for node in made.nodes]
    app.maps.put(evolve(made, resource_id="renamed", nodes=titled))

    found = app.read_text("renamed", titled[1].id)

    assert line("Start", 3, 19) in found.text
    assert 2 == sum("so the text can contain other text of that page" in note for note in found.notes)


def whole(app: Container, resource_id: str, part: str | None, max_chars: int) -> Sequence[ReadTextAnswer]:
    found = [app.read_text(resource_id, part, max_chars=max_chars)]
    while found[-1].next_cursor is not None:
        found.append(app.read_text(resource_id, part, max_chars=max_chars, cursor=found[-1].next_cursor))
        assert len(found) < 1000
    return found


def words(answers: Sequence[ReadTextAnswer]) -> list[str]:
    lines = itertools.chain.from_iterable(answer.text.split("\n") for answer in answers)
    return " ".join(each for each in lines if not each.startswith("[")).split()


@pytest.mark.long
@given(
    max_chars=st.integers(200, 3000),
    named=st.sampled_from(
        [("bees_md", None), ("code_py", None), ("long_txt", None), ("report", None), ("report", "pages=2-6")]
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_a_cut_text_continues_without_loss_and_in_bounded_answers(
    app: Container, max_chars: int, named: tuple[str, str | None]
) -> None:
    parts = whole(app, *named, max_chars)

    assert words([app.read_text(*named, max_chars=50_000)]) == words(parts)
    assert all(len(part.text) <= max_chars + 100 for part in parts)
    assert all(part.address is not None for part in parts)
    assert 1 == len({part.total for part in parts})


@pytest.mark.long
def test_every_quoted_line_is_at_the_address_of_its_answer(app: Container) -> None:
    for part in whole(app, "report", "pages=2-6", 400):
        quote = next(each for each in part.text.split("\n") if each.startswith(("Start", "End")))
        assert part.address is not None
        assert app.verify_quote(part.address, quote).holds


@pytest.mark.parametrize(
    "named",
    [
        ("report", "doc://report#pages=2"),
        ("report", "report#pages=2"),
        ("report", "#pages=2"),
        ("report", "page=2"),
        ("doc://report", "pages=2"),
        ("doc://report#pages=2", None),
        ("report#pages=2", None),
    ],
)
def test_an_address_may_be_written_without_its_scheme(app: Container, named: tuple[str, str | None]) -> None:
    assert "doc://report#pages=2" == str(app.read_text(*named).address)


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        (("reprot", None), ResourceMissing, "Did you mean 'report'"),
        (("bees_md", "bees.winter_foot"), NodeMissing, "Did you mean '[a-z.]*winter_food'"),
        (("report", "pages=99"), LocationOutside, "8 pages"),
        (("report", "pages=x"), AddressMalformed, "pages"),
        (("report", "doc://other#pages=1"), RequestRefused, "belongs to the resource 'other'"),
    ],
)
def test_parts_that_do_not_exist_are_refused(
    app: Container, named: tuple[str, str | None], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        app.read_text(*named)


@pytest.mark.parametrize("cursor", ["", "x", "0.0.00000000", "1.2", "99999999999.0.abcdef01", "0.0.zzzzzzzz"])
def test_a_cursor_of_another_part_is_refused(app: Container, cursor: str) -> None:
    with pytest.raises(RequestRefused, match="without a cursor"):
        app.read_text("report", cursor=cursor)
    foreign = app.read_text("report", max_chars=300).next_cursor
    with pytest.raises(RequestRefused, match="without a cursor"):
        app.read_text("report", "pages=2", cursor=foreign)


@pytest.mark.parametrize("max_chars", [0, 199, 50_001])
def test_the_number_of_characters_is_bounded(app: Container, max_chars: int) -> None:
    with pytest.raises(RequestRefused, match="from 200 to 50000"):
        app.read_text("report", max_chars=max_chars)


def test_a_line_of_a_file_cannot_pass_for_a_page_mark(tmp_path: Path) -> None:
    (tmp_path / "forged.txt").write_text("[page 7]\n[line 70]\n[cut: no]\nplain\n")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "forged.txt")

    assert "[line 1]\n## [page 7]\n\\[line 70]\n\\[cut: no]\nplain" == app.read_text("forged_txt").text


def test_a_changed_file_is_read_from_its_mapped_text_and_marked_stale(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text(GUIDE)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "bees.md")
    before = app.read_text("bees_md")
    (tmp_path / "bees.md").write_text("# Wasps\n")

    after = app.read_text("bees_md")

    assert before.text == after.text
    assert "changed" in (after.stale or "")
    assert any(each.startswith("[stale: ") for each in read_lines(after))


def test_a_missing_file_whose_text_was_never_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text(GUIDE)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "bees.md")
    (tmp_path / "bees.md").unlink()

    with pytest.raises(SourceMoved):
        app.read_text("bees_md")


@pytest.mark.parametrize(
    "damage", ["UPDATE block SET code = x'00'", "DELETE FROM block", "UPDATE text SET version = 1"]
)
def test_a_damaged_index_is_filled_again_before_the_answer(tmp_path: Path, damage: str) -> None:
    (tmp_path / "bees.md").write_text(GUIDE)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "bees.md")
    expected = app.read_text("bees_md")
    (path,) = tmp_path.glob(".citekit_cache/texts-*/text.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)

    assert expected == bootstrap(home=tmp_path).read_text("bees_md")


def test_a_picture_has_no_text_to_read(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (20, 20), "white").save(tmp_path / "blank.png")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "blank.png")

    with pytest.raises(SourceUnsupported, match="is an image"):
        app.read_text("blank")
