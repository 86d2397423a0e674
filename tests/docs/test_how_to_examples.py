"""The examples of the how-to pages run as they stand there."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.cli.program import Answer, Cli
from tests.foreign_indexes import TEXT, docstore, story_nodes, write_graphrag

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in that language."""
    return re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)


def run(cli: Cli, block: str, **environment: str) -> list[Answer]:
    """The commands of a console block, each of which succeeds."""
    lines = [line.removeprefix("$ ") for line in block.splitlines()]
    answers = [cli(*shlex.split(line)[1:], **environment) for line in lines]
    assert [0] * len(lines) == [answer.code for answer in answers], [answer.err for answer in answers]
    return answers


def test_the_mapper_in_a_file_runs(cli: Cli) -> None:
    cli.write("my_mapper.py", blocks("write-a-mapper.md", "python")[0])
    cli.write("notes.txt", "line\n" * 50)

    run(cli, blocks("write-a-mapper.md", "console")[0])
    made = cli.json("structure", "notes_txt")

    assert ["lines_1", "lines_21", "lines_41"] == [node["id"] for node in made["nodes"]]


@pytest.mark.long
def test_the_mapper_in_a_package_runs_when_it_is_installed(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    project = tomllib.loads(blocks("write-a-mapper.md", "toml")[0])["project"]
    [(name, reference)] = project["entry-points"]["citekit.mappers"].items()
    site = tmp_path_factory.mktemp("site")
    facts = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (facts / "entry_points.txt").write_text(f"[citekit.mappers]\n{name} = {reference}\n")
    (site / f"{reference.partition(':')[0]}.py").write_text(blocks("write-a-mapper.md", "python")[1])
    cli.write("notes.txt", "The first paragraph begins\nand goes on.\n\nThe second one.\n")

    answers = run(cli, blocks("write-a-mapper.md", "console")[1], PYTHONPATH=str(site))
    made = cli.json("structure", "notes_txt")

    assert [("The first paragraph ", [1, 3]), ("The second one.", [4, 4])] == [
        (node["title"], node["location"]["lines"]) for node in made["nodes"]
    ]
    assert f"mapper '{name}'" in answers[-1].out


@pytest.mark.long
def test_what_other_programs_found_is_imported_as_the_page_says(cli: Cli) -> None:
    from PIL import Image

    write_graphrag(cli.here / "output")
    cli.write(
        "output/entities.json",
        json.dumps([{"id": "e", "title": "Alice", "description": "A.", "text_unit_ids": ["t-0"]}]),
    )
    cli.write(
        "output/communities.json", json.dumps([{"community": 0, "title": "All", "entity_ids": ["e"], "parent": -1}])
    )
    cli.write("story.txt", TEXT)
    cli.write("storage/docstore.json", json.dumps(docstore(story_nodes())))
    cli.write(
        "regions.json", json.dumps([{"id": "a", "location": {"modality": "image", "bbox": [0.5, 0.5, 0.5, 0.25]}}])
    )
    cli.write("table.csv", "name,first,last\nopening,1,3\n")
    cli.write("my_adapter.py", blocks("import-other-indexes.md", "python")[0])
    Image.new("RGB", (40, 20)).save(cli.here / "picture.png")

    for block in blocks("import-other-indexes.md", "console"):
        run(cli, block)

    assert {"story_graph", "story_nodes", "regions", "by_table"} == {
        each["resource_id"] for each in cli.json("list")["resources"]
    }
    assert "text://by_table#lines=1-3" == cli.json("inspect", "by_table", "opening")["address"]
