"""Lines of notebooks, subtitles, calendars, and tables as files that their own libraries read; and their maps."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import icalendar
import nbformat
import pysubs2
import pytest

from citekit import CiteKit
from citekit.domain.evidence import Form
from tests.contracts.small_files import TEXTS


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    return CiteKit(home=tmp_path / "home")


def cut(kit: CiteKit, path: Path, lines: str, form: Form = Form.NATIVE) -> tuple[bytes, str]:
    """The evidence for lines, and its notes."""
    name = kit.ingest(path).resource_id
    found = kit.resolve(f"text://{name}#lines={lines}", form=form)
    assert found.output_path is not None
    assert found.receipt is not None
    assert found.output_path.suffix == path.suffix
    return found.output_path.read_bytes(), " ".join(found.receipt.notes)


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def a_notebook(path: Path, cells: int) -> Path:
    made = nbformat.v4.new_notebook(metadata={"language_info": {"name": "python"}})
    made.cells = [nbformat.v4.new_code_cell(f"x = {number}\nprint(x)") for number in range(cells)]
    nbformat.write(made, path)
    return path


def test_a_part_of_a_notebook_is_a_notebook(kit: CiteKit, tmp_path: Path) -> None:
    path = a_notebook(tmp_path / "a.ipynb", 5)
    node = kit.ingest(path).nodes[2]
    lines = [number for number, line in enumerate(path.read_text().splitlines(), 1) if "x = 3" in line]

    data, notes = cut(kit, path, f"{node.location.first}-{node.location.last}")  # type: ignore[union-attr]
    inside, more = cut(kit, path, str(lines[0]))

    for each, source in ((data, "x = 2\nprint(x)"), (inside, "x = 3\nprint(x)")):
        found = nbformat.reads(each.decode(), as_version=4)
        nbformat.validate(found)
        assert [source] == [cell.source for cell in found.cells]
        assert "python" == found.metadata.language_info.name
    assert "" == notes
    assert "extracted whole: cell 4" in more


def test_lines_outside_of_the_cells_stay_lines(kit: CiteKit, tmp_path: Path) -> None:
    path = a_notebook(tmp_path / "a.ipynb", 2)
    last = len(path.read_text().splitlines())

    found = kit.resolve(f"text://{kit.ingest(path).resource_id}#lines={last}-{last}")

    assert found.output_path is not None
    assert found.receipt is not None
    assert (".txt", b"}") == (found.output_path.suffix, found.output_path.read_bytes().strip())
    assert "Only the lines" in found.receipt.notes[-1]


VTT = (
    "WEBVTT - Meeting\n\nSTYLE\n::cue { color: red }\n\nintro\n00:00.000 --> 00:02.000\nAnna Berg: Good morning.\n\n"
    "00:03.000 --> 00:05.000\nBen: Hello.\n\n00:40.000 --> 00:42.000\nAnna Berg: Let us begin.\n"
)


@pytest.mark.parametrize(
    ("name", "text", "lines", "words"),
    [
        ("a.vtt", VTT, "10-11", ["Ben: Hello."]),
        ("a.srt", TEXTS["subtitles"], "7-7", ["Goodbye."]),
        ("a.ass", TEXTS["ssa"], "11-11", ["Good\\Nbye."]),
    ],
)
def test_a_part_of_subtitles_is_a_file_of_subtitles(
    kit: CiteKit, tmp_path: Path, name: str, text: str, lines: str, words: list[str]
) -> None:
    data, _ = cut(kit, written(tmp_path / name, text), lines)

    found = pysubs2.SSAFile.from_string(data.decode(), format_=name[2:])

    assert words == [event.text for event in found]
    assert data.startswith(text.encode()[:10]) or name == "a.srt"


def test_speakers_of_a_meeting_and_actors_of_subtitles_are_turns(kit: CiteKit, tmp_path: Path) -> None:
    meeting = kit.ingest(written(tmp_path / "a.vtt", VTT))
    film = kit.ingest(written(tmp_path / "a.ass", TEXTS["ssa"]))

    assert ["Anna Berg", "Ben"] == meeting.metadata["speakers"]
    assert ["Anna Berg: Good morning.", "Ben: Hello.", "Anna Berg: Let us begin."] == [
        node.title for node in meeting.walk() if node.type == "turn"
    ]
    assert ["Anna: Hello there.", "Ben: Good bye."] == [node.title for node in film.walk() if node.type == "turn"]
    assert "Good bye." in next(hit.text for hit in kit.find_text("good bye").hits)


def test_an_event_is_a_node_and_evidence_of_it_is_a_calendar(kit: CiteKit, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ics", TEXTS["calendar"])
    found = kit.ingest(path)

    whole = icalendar.Calendar.from_ical(cut(kit, path, "20-20")[0])
    node = kit.resolve(found.resource_id, found.nodes[0].id)

    assert [
        ("event", "2024-05-06 Delivery of shelves, at last", "2024-05-06 10:00 - 11:00 Europe/Oslo, Hall 3"),
        ("event", "2024-05-07 Inventory", "2024-05-07"),
    ] == [(each.type, each.title, each.summary) for each in found.nodes]
    assert node.output_path is not None
    one = icalendar.Calendar.from_ical(node.output_path.read_bytes())
    assert (["Europe/Oslo"], ["Delivery of shelves, at last"]) == (
        [str(zone["TZID"]) for zone in one.walk("VTIMEZONE")],
        [str(event["SUMMARY"]) for event in one.walk("VEVENT")],
    )
    assert ([], ["Delivery of shelves, at last"]) == (one.errors, [str(each["SUMMARY"]) for each in whole.events])
    assert [] != kit.find_text("shelves, at last").hits


def test_entries_of_a_bibliography_are_nodes_by_their_keys(kit: CiteKit, tmp_path: Path) -> None:
    found = kit.ingest(written(tmp_path / "a.bib", TEXTS["bibtex"]))

    entry = kit.resolve(found.resource_id, "lamport94")

    assert [
        ("lamport94", "book", "LaTeX: A Document System (1994)", "lamport94: Leslie Lamport, ACM Press, 1994"),
        (
            "goedel31",
            "article",
            "On Formally Undecidable Propositions (1931)",
            "goedel31: Kurt Gödel, Monatshefte, 1931",
        ),
    ] == [(node.id, node.type, node.title, node.summary) for node in found.nodes]
    assert entry.output_path is not None
    assert entry.output_path.read_text().startswith("@book{lamport94,")
    assert (".bib", "}") == (entry.output_path.suffix, entry.output_path.read_text().rstrip()[-1])


MACROS = """\
@string{acm = "Association for " # {Computing Machinery}}
@STRING(proc = "Proceedings of the " # acm)
@inproceedings{child, author = {A. Writer}, title = {On "Quotes", Commas}, crossref = {whole}}
@article{paper, title = "The " # {C\\# Language}, journal = proc # ", part " # 2, year = 1999}
@proceedings{whole, title = {All Papers}, editor = {E. Ditor}, publisher = ACM, year = 2001}
@misc{lost, title = {Lost}, crossref = {nowhere}}
@misc{itself, title = {Itself}, crossref = {itself}}
"""


def test_macros_and_cross_references_of_a_bibliography_are_followed(kit: CiteKit, tmp_path: Path) -> None:
    found = kit.ingest(written(tmp_path / "a.bib", MACROS))

    society = "Association for Computing Machinery"
    assert [
        ('On "Quotes", Commas (2001)', "child: A. Writer, All Papers, 2001"),
        ("The C# Language (1999)", f"paper: Proceedings of the {society}, part 2, 1999"),
        ("All Papers (2001)", f"whole: E. Ditor, {society}, 2001"),
        ("Lost", "lost:"),
        ("Itself", "itself:"),
    ] == [(node.title, node.summary) for node in found.nodes]


def test_macros_that_multiply_stay_short(kit: CiteKit, tmp_path: Path) -> None:
    lines = ['@string{a = "xxxxxxxxxx"}', *(f"@string{{{b} = {' # '.join([a] * 50)}}}" for a, b in pairwise("abcdef"))]
    found = kit.ingest(written(tmp_path / "a.bib", "\n".join([*lines, f"@misc{{k, title = {' # '.join('f' * 99)}}}"])))

    assert 30_000 > len(found.nodes[0].title)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bib", "@book{x"),
        ("a.bib", '@string{\n@string(a = "\n@string{a = a # a}\n@misc{k, title = a # # {, crossref = k}'),
        ("a.bib", '@article{k, title = "{A} \\" b, author = {{{, year'),
        ("b.bib", "@book{a,\n@book{b, title={B}}\n"),
        ("a.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x"),
        ("a.ics", "END:VEVENT\nBEGIN:VEVENT\nEND:VCALENDAR\n;;;:\n \n"),
        ("a.ass", "[Events]\nFormat: Text\nDialogue:\nDialogue: ,,,\n"),
        ("a.vtt", "WEBVTT\n\n00:00.000 -->\n00:01.000 --> 00:00.000\n"),
    ],
)
def test_damaged_files_are_mapped_as_far_as_they_go(kit: CiteKit, tmp_path: Path, name: str, text: str) -> None:
    found = kit.ingest(written(tmp_path / name, text))

    for node in found.walk():
        assert kit.resolve(found.resource_id, node.id).output_path is not None


def test_rows_have_their_header_where_it_is_asked_for(kit: CiteKit, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", 'name,note\nOne,"two\nlines"\nTwo,x\n')

    plain, _ = cut(kit, path, "3-3")
    rows, _ = cut(kit, path, "3-3", Form.TABLE)

    assert b'lines"\n' == plain
    assert [{"name": "One", "note": "two\nlines"}] == list(csv.DictReader(io.StringIO(rows.decode())))


def test_a_notebook_that_is_not_valid_json_stays_lines(kit: CiteKit, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": "x"}]}, indent=1)[:-4])

    found = kit.resolve(f"text://{kit.ingest(path).resource_id}#lines=3-3")

    assert found.output_path is not None
    assert found.output_path.suffix == ".txt"
