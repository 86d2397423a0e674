"""Files and homes that cannot be used: one clear sentence, the right exit code, nothing written elsewhere."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.cli.program import Cli


def make(cli: Cli, kind: str) -> str:
    """Something that is not a file that can be mapped, and its name."""
    path = cli.here / f"{kind}.txt"
    match kind:
        case "missing":
            pass
        case "pipe":
            os.mkfifo(path)
        case "empty":
            path.touch()
        case "loop":
            path.symlink_to(path)
        case "below":
            cli.write("file", "x")
            return "file/below.txt"
        case "device":
            return "/dev/zero"
        case "archive":
            shutil.make_archive(str(cli.here / "archive"), "tar", cli.here)
            return "archive.tar"
        case "torn":
            cli.write("torn.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<")
            return "torn.pdf"
        case "long":
            return "x" * 5000
    return path.name


@pytest.mark.parametrize("kind", ["missing", "pipe", "empty", "loop", "below", "device", "archive", "torn", "long"])
def test_what_is_no_file_to_map_is_one_sentence(cli: Cli, kind: str) -> None:
    name = make(cli, kind)
    before = cli.everything()

    answer = cli.within("ingest", name, "--home", "home", "--json")

    assert answer.code == 1
    assert [name] == [entry["path"] for entry in answer.document["failed"]]
    assert "unexpected error" not in answer.err
    assert 1 == len(answer.err.splitlines())
    assert before == {path for path in cli.everything() if path.partition("/")[0] != "home"}
    assert [] == list(cli.here.glob("home/.resource_maps/*"))


def test_an_empty_name_and_a_dash_before_words_are_told(cli: Cli) -> None:
    empty = cli("ingest", "")
    dash = cli("verify-quote", "book", "-never mind")

    assert (2, True) == (empty.code, "The file name is empty" in empty.err)
    assert (2, True) == (dash.code, "Put -- before an argument that begins with a dash" in dash.err)


def test_a_wrong_extension_does_not_deceive(cli: Cli) -> None:
    cli.write("picture.pdf", "Really just some words.\n")

    answer = cli("ingest", "picture.pdf", "--type", "pdf")

    assert answer.code == 1
    assert "is text, not pdf" in answer.err


@pytest.mark.parametrize(
    "wanted", ["a/b", "..", "a\\b", "/etc/passwd", "x" * 10_000, "\u202egnp.exe", "a\nb", " ", "a\u2066b"]
)
def test_an_id_that_cannot_be_stored_is_refused(cli: Cli, wanted: str) -> None:
    cli.write("a.txt", "Some words.\n")

    answer = cli.within("ingest", "a.txt", "--id", wanted)

    assert (2, "", 1) == (answer.code, answer.out, len(answer.err.splitlines()))
    assert "resource ID" in answer.err
    assert {"a.txt"} == cli.everything()


def test_the_id_of_another_file_is_not_overwritten(cli: Cli) -> None:
    cli.write("a.txt", "Some words.\n")
    cli.write("b.txt", "Other words.\n")
    cli("ingest", "a.txt", "--id", "mine")

    answer = cli("ingest", "b.txt", "--id", "mine")

    assert answer.code == 2
    assert "belongs to" in answer.err


def test_files_of_one_name_get_ids_of_their_own(cli: Cli) -> None:
    cli.write("x/same.txt", "Some words.\n")
    cli.write("y/same.txt", "Other words.\n")

    made = cli.json("ingest", "x", "y")["ingested"]

    assert {"same_txt", "y_same_txt"} == {entry["resource_id"] for entry in made}


@pytest.mark.long
def test_a_file_that_may_not_be_read_is_refused(cli: Cli) -> None:
    cli.write("secret.txt", "Some words.\n").chmod(0)

    answer = cli.as_anybody("ingest", "secret.txt", "--home", "home")

    assert answer.code == 1
    assert "not permitted" in answer.err
    assert {"secret.txt"} == cli.everything()


@pytest.mark.long
def test_a_read_only_home_still_answers_virtually(cli: Cli) -> None:
    cli.write("a.txt", "Some words.\n")
    assert cli("ingest", "a.txt").code == 0
    node = cli.json("list", "a_txt")["nodes"][0]["id"]
    for path in (cli.here, *cli.here.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = cli.everything()

    virtual = cli.as_anybody("resolve", "a_txt", node, "--virtual", "--json")
    physical = cli.as_anybody("resolve", "a_txt", node)
    ingest = cli.as_anybody("ingest", "a.txt", "--force")
    doctor = cli.as_anybody("doctor", "--json")

    assert (0, None) == (virtual.code, virtual.document["stale"])
    assert [1, 1, 1] == [physical.code, ingest.code, doctor.code]
    assert "permitted" in physical.err
    assert "permitted" in ingest.err
    assert "not writable" in doctor.err
    assert before == cli.everything()
    for path in (cli.here, *cli.here.rglob("*")):
        path.chmod(0o755)


@pytest.mark.long
def test_a_home_that_is_a_file_is_told_apart_from_an_empty_one(cli: Cli) -> None:
    cli.write("a.txt", "Some words.\n")
    cli.write("file", "x")

    ingest = cli("ingest", "a.txt", "--home", "file")
    doctor = cli("doctor", "--home", "file")

    assert (1, 1) == (ingest.code, doctor.code)
    assert "unexpected error" not in ingest.err + doctor.err
    assert {"a.txt", "file"} == cli.everything()


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CITEKIT_CACHE_LIMIT", "much"), ("CITEKIT_CONCURRENCY", "-1"), ("CITEKIT_MAPPER", "nobody")],
)
def test_a_setting_that_cannot_be_read_is_a_matter_of_usage(cli: Cli, variable: str, value: str) -> None:
    cli.write("a.txt", "Some words.\n")

    answer = cli("ingest", "a.txt", **{variable: value})

    assert answer.code == 2
    assert value in answer.err
    assert {"a.txt"} == cli.everything()
