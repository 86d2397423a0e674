"""Formats that installed packages offer through entry points, as the page about them shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.program import Cli

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-format.md"
RECIPE = "Pancakes\n\n* Whisk\nflour, milk, eggs\n* Fry\nin butter\n"


def install(folder: Path, code: str, name: str = "citekit_recipes") -> Path:
    """A package as pip installs it (PyPA: recording installed projects)."""
    facts = folder / f"{name}-0.1.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (facts / "entry_points.txt").write_text(f"[citekit.formats]\nrecipe = {name}:HANDLER\n")
    (folder / f"{name}.py").write_text(code)
    return folder


def example() -> str:
    """The Python code on the page."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(install(tmp_path_factory.mktemp("site"), example()))


def test_the_example_is_short() -> None:
    assert len(example().splitlines()) < 60


@pytest.mark.parametrize("parsers", ["inline", "subprocess"])
def test_a_file_of_an_installed_format_is_mapped_quoted_and_cut(cli: Cli, site: str, parsers: str) -> None:
    cli.write("pancakes.recipe", RECIPE)
    environment = {"PYTHONPATH": site, "CITEKIT_PARSERS": parsers}

    ingested = cli("ingest", "pancakes.recipe", "--json", **environment)
    resource_map = cli("structure", "pancakes_recipe", "--json", **environment).document
    evidence = cli("resolve", "pancakes_recipe", "whisk", "--json", **environment).document
    quote = cli("verify-quote", "pancakes_recipe", "flour, milk, eggs", "--json", **environment)

    assert ingested.code == 0, ingested.err
    assert ("recipe", "text") == (resource_map["metadata"]["format"], resource_map["type"])
    assert [("Whisk", 3, 4), ("Fry", 5, 6)] == [
        (node["title"], *node["location"]["lines"]) for node in resource_map["nodes"]
    ]
    assert Path(evidence["output_path"]).read_text("utf-8") == "* Whisk\nflour, milk, eggs\n"
    assert quote.code == 0


def test_a_folder_is_searched_for_files_of_installed_formats(cli: Cli, site: str) -> None:
    (cli.here / "kitchen").mkdir()
    cli.write("kitchen/pancakes.recipe", RECIPE)

    answer = cli("ingest", "kitchen", "--json", PYTHONPATH=site)

    assert ["pancakes_recipe"] == [each["resource_id"] for each in answer.document["ingested"]]


def test_without_the_package_its_maps_still_list_and_its_text_is_plain(cli: Cli, site: str) -> None:
    cli.write("pancakes.recipe", RECIPE)
    cli("ingest", "pancakes.recipe", PYTHONPATH=site)

    listed = cli("structure", "pancakes_recipe", "--json")
    evidence = cli("resolve", "pancakes_recipe", "whisk", "--json")

    assert (0, 0) == (listed.code, evidence.code)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ImportError('no oven')", "cannot be loaded: ImportError: no oven"),
        ("HANDLER = 5", "is not a format handler"),
    ],
)
def test_a_package_that_cannot_be_used_is_named_once_and_costs_other_files_nothing(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, site: str, code: str, reason: str
) -> None:
    broken = install(tmp_path_factory.mktemp("broken"), code, "citekit_broken")
    (cli.here / "kitchen").mkdir()
    cli.write("kitchen/pancakes.recipe", RECIPE)
    cli.write("kitchen/notes.txt", "one\ntwo\n")
    cli.write("kitchen/plain.xyz", "three\n")
    work = (
        ("ingest", "kitchen"),
        ("ingest", "kitchen/plain.xyz"),
        ("resolve", "text://notes_txt#lines=2"),
        ("verify-quote", "notes_txt", "two"),
    )

    answers = [cli(*arguments, PYTHONPATH=os.pathsep.join((str(broken), site))) for arguments in work]

    assert [0, 0, 0, 0] == [answer.code for answer in answers], [answer.err for answer in answers]
    assert [1, 1, 0, 0] == [answer.err.count("(citekit_broken:HANDLER) " + reason) for answer in answers]
    assert "recipe" == cli("structure", "pancakes_recipe", "--json").document["metadata"]["format"]
    assert ["notes_txt", "pancakes_recipe", "plain_xyz"] == sorted(
        each["resource_id"] for each in cli.json("list")["resources"]
    )
