"""A run of the harness may be interrupted, and its table goes into the page of promises."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from tests.faults.__main__ import Job, together
from tests.faults.results import Part, Results, fingerprint, load_part, load_results, save
from tests.faults.table import Row, Scale

ROOT = Path(__file__).parents[2]


def test_what_was_found_before_an_interruption_is_not_tried_again(tmp_path: Path) -> None:
    found = Part([Row("words", "titles", 7, 7)], 1.5, 1.25)
    results = tmp_path / "words-0.json"
    save(found, results)

    assert found == load_part(results) == Job("words", Scale(1, 25), results).run()


def test_a_run_goes_on_from_its_parts_and_forgets_those_of_other_code(tmp_path: Path) -> None:
    folder = tmp_path / fingerprint(ROOT, ["outside", 1.0, 5])
    save(Part([Row("outside", "arguments", 3, 3)], 1.0, 1.0), folder / "outside-0.json")
    save(Part([Row("outside", "arguments", 9, 9)], 1.0, 1.0), tmp_path / "othercode" / "outside-0.json")

    results = together(["outside"], 1.0, 5, tmp_path)

    assert ([Row("outside", "arguments", 3, 3)], []) == (results.rows, list(tmp_path.iterdir()))


def test_rows_of_changed_code_have_another_name(tmp_path: Path) -> None:
    source = tmp_path / "src" / "a.py"
    source.parent.mkdir()
    source.write_text("a = 1\n")
    before = fingerprint(tmp_path, [])
    source.write_text("a = 2\n")

    assert before != fingerprint(tmp_path, [])


def test_the_page_of_promises_takes_the_table_of_a_run(tmp_path: Path) -> None:
    rows = [
        Row("kills", "ingest, PDF", 60, 60, "80 steps"),
        Row("kills", "ingest, text", 40, 39, "50 steps"),
        Row("inputs", "mutated: maps", 1200, 1200),
    ]
    save(Results(rows, 60.0, 120.0, 1200, "2026-01-02", 2), tmp_path / "faults.json")

    page = _generator().promises(
        (ROOT / "docs" / "reference" / "promises.md").read_text("utf-8"), tmp_path / "faults.json"
    )

    operations = "killed before a step, or in the middle of a write, of an operation"
    assert f"| kills | {operations} | 2 | 100 | 99 |" in page
    assert "| inputs | mutated | 1 | 1,200 | 1,200 |" in page
    assert "- kills, ingest, text: 39 of 40. 50 steps" in page
    assert rows == load_results(tmp_path / "faults.json").rows


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_faults", ROOT / "docs" / "generate_faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
