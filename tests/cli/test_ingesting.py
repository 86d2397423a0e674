"""`citekit ingest`: one file, many, folders, and mappers of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Cli

MAPPER = """
class Mapper:
    def __init__(self, title="Mine"):
        self.title = title

    async def generate_map(self, resource_path, resource_type, resource_id):
        print("a mapper that talks")
        return {
            "resource_id": resource_id, "type": resource_type, "title": self.title, "source_path": resource_path,
            "nodes": [{"id": "top", "title": "Top", "type": "part", "location": {"modality": "text", "lines": [1, 2]}}],
        }
"""


@pytest.mark.parametrize("parsers", ["subprocess", "inline"])
def test_a_file_is_mapped_once(cli: Cli, parsers: str) -> None:
    cli.write("code.py")

    first, second = (cli("ingest", "code.py", "--json", CITEKIT_PARSERS=parsers).document for _ in range(2))

    assert ["code_py"] == [entry["resource_id"] for entry in first["ingested"]]
    assert [True, False] == [answer["ingested"][0]["mapped_now"] for answer in (first, second)]


def test_a_person_reads_what_was_mapped(cli: Cli) -> None:
    cli.write("code.py")

    answer = cli("ingest", "code.py")

    assert answer.out.startswith("code_py  code  (text, 3 nodes, mapped in ")
    assert (0, "Mapper: local (no model key is set).\n") == (answer.code, answer.err)


def test_a_folder_is_mapped_but_for_what_cannot_be(cli: Cli) -> None:
    cli.write("in/a.py")
    cli.write("in/deep/b.txt", "Some words.\n")
    cli.write("in/empty.txt", "")
    cli.write("in/.hidden.py")
    cli.write("in/unknown.xyz", b"\0\1\2")

    answer = cli("ingest", "in", "--json")

    assert answer.code == 1
    assert {"a_py", "b_txt"} == {entry["resource_id"] for entry in answer.document["ingested"]}
    assert [str(Path("in/empty.txt"))] == [entry["path"] for entry in answer.document["failed"]]
    assert "1 of 3 files could not be mapped." == answer.document["error"]["message"]


def test_failures_are_listed_at_the_end(cli: Cli) -> None:
    cli.write("a.py")

    answer = cli("ingest", "missing.txt", "a.py")

    assert answer.code == 1
    assert answer.out.startswith("a_py")
    mapper, failed, total = answer.err.splitlines()
    assert "Mapper: local (no model key is set)." == mapper
    assert failed.startswith("Failed: missing.txt: ")
    assert "Error: 1 of 2 files could not be mapped." == total


def test_the_home_inside_a_folder_is_not_mapped(cli: Cli) -> None:
    cli.write("a.py")
    cli("ingest", ".", "--home", "visible")
    cli("resolve", "a_py", "first", "--home", "visible")

    again = cli.json("ingest", ".", "--home", "visible")

    assert ["a.py"] == [entry["path"] for entry in again["ingested"]]


def test_an_id_may_be_chosen_for_one_file(cli: Cli) -> None:
    cli.write("a.py")

    assert "mine" == cli.json("ingest", "a.py", "--id", "mine")["ingested"][0]["resource_id"]


def test_the_kind_may_be_told_in_the_word_of_old(cli: Cli) -> None:
    cli.write("a.py")

    answer = cli("ingest", "a.py", "--type", "pdf")

    assert answer.code == 1
    assert "not document" in answer.err


def test_a_mapper_of_the_user_s_own_makes_the_map(cli: Cli) -> None:
    cli.write("a.py")
    cli.write("b.py", "x = 1\ny = 2\n")
    cli.write("mine.txt", "not mapped")
    mapper = str(cli.write("m/mapper.py", MAPPER))

    answer = cli("ingest", "a.py", "b.py", "--mapper", mapper, "--mapper-config", '{"title": "Ours"}', "--json")

    assert answer.code == 0, answer.err
    assert ["Ours", "Ours"] == [entry["title"] for entry in answer.document["ingested"]]
    assert ["top"] == [node["id"] for node in cli.json("list", "a_py")["nodes"]]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--mapper", "nobody"], "There is no mapper named 'nobody'"),
        (["--mapper-config", "{"], "--mapper-config is not valid JSON"),
        (["--mapper-config", "[1]"], "--mapper-config must be a JSON object"),
        (["--mapper-config", '{"a": 1}'], "accepts no configuration object"),
        (["--mapper", "missing.py"], "missing.py"),
        (["--type", "hologram"], "'hologram' is not one of"),
        (["--concurrency", "0"], "--concurrency"),
        (["--home", ""], "--home is empty"),
        (["b.py", "--id", "mine"], "--id works with exactly one file"),
    ],
)
def test_a_request_that_cannot_be_understood_is_a_matter_of_usage(cli: Cli, arguments: list[str], reason: str) -> None:
    cli.write("a.py")

    answer = cli.within("ingest", "a.py", *arguments, "--json")

    assert answer.code == 2
    assert reason in answer.document["error"]["message"]
    assert 1 == len(answer.err.splitlines())
    assert {"a.py"} == cli.everything()


def test_a_folder_without_anything_to_map_says_so(cli: Cli) -> None:
    (cli.here / "empty").mkdir()

    answer = cli("ingest", "empty")

    assert (1, "") == (answer.code, answer.out)
    assert "Error: There is no file of a known type in empty. " in answer.err


def test_the_home_is_where_the_flag_or_the_environment_says(cli: Cli) -> None:
    cli.write("a.py")
    cli("ingest", "a.py", CITEKIT_HOME="from_environment")
    cli("--home", "before", "ingest", "a.py", CITEKIT_HOME="from_environment")
    cli("ingest", "a.py", "--home", "after")

    maps = sorted(str(path.relative_to(cli.here).parts[0]) for path in cli.here.rglob("a_py.json"))

    assert ["after", "before", "from_environment"] == maps


def test_what_is_printed_is_the_stored_map(cli: Cli) -> None:
    cli.write("code.py")
    cli("ingest", "code.py")

    printed = cli.json("structure", "code_py")

    assert json.loads((cli.here / ".resource_maps" / "code_py.json").read_text("utf-8")) == printed


def test_files_of_one_name_in_the_current_folder_are_mapped(cli: Cli) -> None:
    cli.write("bees hive.md", "# Bees\n")
    cli.write("bees_hive.md", "# Hive\n")

    said = cli("ingest", ".")

    assert 0 == said.code, said.err
    assert 2 == len(cli.json("list")["resources"])
