"""`citekit resolve` and `citekit verify`: evidence, copies of it, and whether it is genuine."""

from __future__ import annotations

import json
from pathlib import Path

import pymupdf
import pypdfium2
import pytest

from tests.cli.program import CODE, Cli


@pytest.fixture
def ingested(cli: Cli) -> Cli:
    """A folder in which `code.py` is mapped, and may be changed."""
    cli.write("code.py")
    assert cli("ingest", "code.py").code == 0
    return cli


def lines(first: int, last: int) -> str:
    return "".join(CODE.splitlines(keepends=True)[first - 1 : last])


def test_a_node_is_cut_out_once(ingested: Cli) -> None:
    first, second = (ingested.json("resolve", "code_py", "Second.third") for _ in range(2))

    assert (True, False) == (first["made_now"], second["made_now"])
    assert lines(9, 10) == Path(first["output_path"]).read_text("utf-8")
    assert str(ingested.here / ".citekit_output" / "code_py_Second_third.py") == first["output_path"]
    assert "text://code_py#lines=9-10" == first["address"] == first["receipt"]["address"]


def test_a_person_reads_path_address_and_what_it_shows(ingested: Cli) -> None:
    answer = ingested("resolve", "code_py.first")

    shown = answer.out.splitlines()
    assert str(ingested.here / ".citekit_output" / "code_py_first.py") == shown[0]
    assert ["  address  text://code_py#lines=1-3", "  shows    lines 1-3"] == [shown[1], shown[3]]
    assert "made in " in shown[-1]
    assert "" == answer.err


def test_an_address_is_cut_out(ingested: Cli) -> None:
    found = ingested.json("resolve", "text://code_py#lines=2-3")

    assert lines(2, 3) == Path(found["output_path"]).read_text("utf-8")
    assert "first" == found["node"]["id"]


@pytest.mark.long
def test_pages_are_cut_out_of_a_real_document(cli: Cli) -> None:
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    for number in range(1, 6):
        document.new_page(width=200, height=200).insert_text((20, 100), f"This is page {number}")
    document.save(cli.here / "book.pdf")  # type: ignore[no-untyped-call]
    assert cli("ingest", "book.pdf").code == 0

    pdf = cli("resolve", "doc://book#pages=2-3", "-o", "two.pdf", "--json", CITEKIT_PARSERS="subprocess").document
    text = cli.json("resolve", "doc://book#pages=4", "--as", "text")

    with pypdfium2.PdfDocument(pdf["copied_to"]) as cut:
        assert ["This is page 2", "This is page 3"] == [page.get_textpage().get_text_bounded().strip() for page in cut]
    assert "This is page 4" == Path(text["output_path"]).read_text("utf-8").strip()


def test_an_address_may_stand_beside_its_resource(ingested: Cli) -> None:
    beside = ingested.json("resolve", "code_py", "text://code_py#lines=1-2")
    other = ingested("resolve", "code_py", "text://book#lines=1-2")
    quoted = ingested.json("verify-quote", "code_py", "text://code_py#lines=1-3", "def first")

    assert "text://code_py#lines=1-2" == beside["address"]
    assert "exact" == quoted["finding"]
    assert (2, True) == (
        other.code,
        "belongs to the resource 'book', not to 'code_py'. Use the same ID" in other.err,
    )


@pytest.mark.parametrize(
    "words",
    [("code_py", "lines=2-3"), ("code_py", "#lines=2-3"), ("code_py", "code_py#lines=2-3"), ("code_py#lines=2-3",)],
)
def test_an_address_may_leave_out_its_scheme_and_resource(ingested: Cli, words: tuple[str, ...]) -> None:
    assert "text://code_py#lines=2-3" == ingested.json("resolve", *words, "--virtual")["address"]


def test_a_virtual_answer_makes_nothing_and_tells_of_change(ingested: Cli) -> None:
    before = ingested.everything()
    fresh = ingested.json("resolve", "code_py", "first", "--virtual")
    ingested.write("code.py", "# other\n")

    stale = ingested.json("resolve", "code_py", "first", "--virtual")

    assert (None, None) == (fresh["output_path"], fresh["stale"])
    assert "changed since it was mapped" in stale["stale"]
    assert not {path for path in ingested.everything() - before if not path.startswith(".citekit_cache/index")}


def test_a_changed_source_is_refused_or_mapped_again(ingested: Cli) -> None:
    ingested.write("code.py", f"import os\n\n\n{CODE}")

    refused = ingested("resolve", "code_py", "first", "--json")
    remapped = ingested.json("resolve", "code_py", "first", "--remap")

    assert (1, "SourceChanged") == (refused.code, refused.document["error"]["type"])
    assert "text://code_py#lines=4-6" == remapped["address"]


def test_a_moved_source_is_found_below_a_root(ingested: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (ingested.here / "code.py").rename(elsewhere / "renamed.py")

    lost = ingested("resolve", "code_py", "first")
    found = ingested.json("resolve", "code_py", "first", "--root", str(elsewhere))

    assert lost.code == 1
    assert "name a folder to look in (--root DIR, CITEKIT_ROOTS, or" in lost.err
    assert lines(1, 3) == Path(found["output_path"]).read_text("utf-8")
    assert str(elsewhere / "renamed.py") in found["moved"]


def test_a_copy_goes_to_a_file_or_into_a_folder(ingested: Cli) -> None:
    (ingested.here / "folder").mkdir()

    file = ingested.json("resolve", "code_py", "first", "-o", "copy.py")
    folder = ingested.json("resolve", "code_py", "first", "-o", "folder")
    again = ingested("resolve", "code_py", "first", "-o", "copy.py")

    assert str(ingested.here / "copy.py") == file["copied_to"]
    assert str(ingested.here / "folder" / "code_py_first.py") == folder["copied_to"]
    assert lines(1, 3) == Path(folder["copied_to"]).read_text("utf-8")
    assert 0o600 == (ingested.here / "copy.py").stat().st_mode & 0o600
    assert 0 == again.code


def test_a_copy_replaces_another_file_only_by_force(ingested: Cli) -> None:
    mine = ingested.write("mine.txt", "mine")

    refused = ingested("resolve", "code_py", "first", "-o", "mine.txt")
    kept = mine.read_text("utf-8")
    forced = ingested("resolve", "code_py", "first", "-o", "mine.txt", "--force")

    assert (2, "mine") == (refused.code, kept)
    assert "replace it with --force" in refused.err
    assert (0, lines(1, 3)) == (forced.code, mine.read_text("utf-8"))


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("code.py", "is a file that this command reads"),
        ("link.py", "is a file that this command reads"),
        ("/dev/null", "is not a regular file"),
        ("no/folder/x.py", "There is no folder"),
        ("nowhere/", "There is no folder"),
    ],
)
def test_a_copy_never_goes_where_it_must_not(ingested: Cli, target: str, reason: str) -> None:
    (ingested.here / "link.py").symlink_to("code.py")

    answer = ingested.within("resolve", "code_py", "first", "-o", target, "--force")

    assert answer.code == 2
    assert reason in answer.err
    assert ingested.here.joinpath("code.py").read_text("utf-8") == CODE
    assert not (ingested.here / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["code_py", "first", "--as", "png"], 1, "is not available as png"),
        (["code_py", "first", "--as", "hologram"], 2, "'hologram' is not one of"),
        (["code_py", "first", "--virtual", "-o", "x"], 2, "--virtual creates no file"),
        (["text://code_py#lines=0-3"], 2, "there is no line 0"),
        (["text://code_py#lines=9-3"], 2, "reversed"),
        (["text://code_py#lines=-3"], 2, "'-3'"),
        (["text://code_py#lines=900-901"], 1, "beyond the end: the text has 10 lines"),
        (["text://code_py"], 2, "a fragment such as #lines=10-50 is missing"),
        (["text://code_py#t=1-2"], 2, "must have the parameter lines"),
        (["doc://code_py#pages=0"], 2, "there is no page 0"),
        (["doc://code_py#pages=1"], 2, "Addresses of 'code_py' begin with text://"),
        (["video://code_py#t=nan"], 2, "'nan'"),
        (["image://code_py#bbox=nan,0,1,1"], 2, "'nan,0,1,1'"),
        (["ftp://code_py#x=1"], 2, "the scheme must be one of"),
        (["text://..%2F..%2Fetc#lines=1"], 2, "slash"),
        (["text://a%00b#lines=1"], 2, "control character"),
        (["text://" + "x" * 10_000 + "#lines=1"], 2, "too long"),
    ],
)
def test_what_cannot_be_cut_out_is_one_sentence(mapped: Cli, arguments: list[str], code: int, reason: str) -> None:
    answer = mapped.within("resolve", *arguments)

    assert (code, "", 1) == (answer.code, answer.out, len(answer.err.splitlines()))
    assert reason in answer.err
    assert len(answer.err) < 1000


def test_a_copy_of_evidence_is_genuine_wherever_it_lies(ingested: Cli) -> None:
    ingested.json("resolve", "code_py", "first", "-o", "anywhere.py")

    verdict = ingested.json("verify", "anywhere.py")

    assert (True, "text://code_py#lines=1-3") == (verdict["genuine"], verdict["address"])


def test_edited_evidence_is_refuted(ingested: Cli) -> None:
    made = Path(ingested.json("resolve", "code_py", "first")["output_path"])
    made.unlink()
    made.write_text("def first(): return 2\n")

    answer = ingested("verify", str(made), "--json")

    assert answer.code == 1
    assert {"evidence": False} == {
        each["name"]: each["passed"] for each in answer.document["checks"] if not each["passed"]
    }
    assert "(evidence-edited)" in answer.document["error"]["message"]


def test_a_receipt_alone_is_never_genuine_and_refuted_when_it_lies(ingested: Cli) -> None:
    answer = ingested.json("resolve", "code_py", "first")
    ingested.write("receipt.json", json.dumps(answer["receipt"]))
    ingested.write("lie.json", json.dumps({**answer["receipt"], "evidence_digest": "0" * 64}))
    ingested.write("torn.json", json.dumps({**answer["receipt"], "location": None}))

    assert [3, 1, 1] == [ingested("verify", f"{name}.json").code for name in ("receipt", "lie", "torn")]


def test_what_no_receipt_speaks_of_is_said_so(ingested: Cli) -> None:
    stranger, missing = ingested("verify", "code.py"), ingested("verify", "nothing.pdf")

    assert "There is no receipt for code.py" in stranger.err
    assert "nothing.pdf" in missing.err
    assert {1} <= {stranger.code, missing.code} <= {1, 2}
