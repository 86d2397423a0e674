"""A person groups resources by tags, and lists and searches what has one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citekit.domain.errors import RequestRefused, ResourceMissing
from citekit.entrypoints.sdk import CiteKit
from tests.cli.program import Answer, Cli


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    kit = CiteKit(tmp_path)
    for name in ("bees", "wasps", "ants"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\nAll {name} have six legs.\n")
        kit.ingest(tmp_path / f"{name}.md")
    return kit


def test_tags_are_listed_with_their_resources(kit: CiteKit) -> None:
    kit.tag("bees_md", "wasps_md", add=["Wings"])
    kit.tag("bees_md", add=["honey"])
    kit.tag("ants_md", add=["honey", "wings"])
    kit.tag("ants_md", remove=["HONEY"])
    assert {"honey": ["bees_md"], "Wings": ["ants_md", "bees_md", "wasps_md"]} == kit.tags()
    assert {"bees_md": ("honey", "Wings")} == kit.tag("bees_md")
    kit.remove("bees_md")
    assert {"wings": ["ants_md", "wasps_md"]} == kit.tags()


def test_nothing_is_tagged_if_one_resource_is_missing(kit: CiteKit) -> None:
    with pytest.raises(ResourceMissing):
        kit.tag("bees_md", "spiders_md", add=["x"])
    assert {} == kit.tags()
    kit.tag("bees_md", add=["honey"])
    with pytest.raises(RequestRefused, match="Did you mean 'honey'"):
        kit.app.tag.tagged("hony")


def test_lists_are_narrowed_by_tags(kit: CiteKit) -> None:
    kit.tag("bees_md", "wasps_md", add=["Wings"])

    def listed(query: str = "", tag: str = "") -> list[str]:
        return [each.resource_id for each in kit.app.list_resources(query, tag=tag).resources]

    assert ["bees_md", "wasps_md"] == listed(tag="wings") == listed("WING")
    assert ["wasps_md"] == listed("wasps wings")
    assert [] == listed("ants", "wings") == listed(tag="x")


@pytest.mark.long
def test_the_command_line_tags_lists_and_searches(kit: CiteKit) -> None:
    def run(*words: str) -> Answer:
        return Cli(kit.app.settings.home)(*words)

    assert "There are no tags." in run("tag").err
    assert "bees_md: Wings\nwasps_md: Wings" == run("tag", "bees_md", "wasps_md", "--add", "Wings").out.strip()
    assert "Wings: bees_md, wasps_md" == run("tag").out.strip()
    assert {"resources": {"ants_md": []}} == json.loads(run("tag", "ants_md", "--json").out)
    found = json.loads(run("list", "--tag", "wings", "--json").out)
    assert ["bees_md", "wasps_md"] == [each["resource_id"] for each in found["resources"]]
    hits = json.loads(run("find", "legs", "--tag", "wings", "--json").out)["hits"]
    assert {"bees_md", "wasps_md"} == {hit["address"].split("://")[1].split("#")[0] for hit in hits}
    for words, message in (
        (("tag", "--add", "x"), "Name the resources (citekit tag RESOURCE --add x)"),
        (("tag", "bees_md", "--add", " "), "A tag must have 1 to 60 printable characters."),
        (("list", "--tag", "wing"), "No resource has the tag 'wing'. Did you mean 'Wings'?"),
        (("list", "bees_md", "--tag", "wings"), "cannot be combined with RESOURCE"),
        (("find", "legs", "--tag", "wings", "--resource", "ants_md"), "cannot be combined with --resource"),
    ):
        answer = run(*words)
        assert 2 == answer.code
        assert message in answer.err
