"""Programs written for citekit 0.2 run unchanged, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MAPPER = """
from citekit import MapperProvider, ResourceMap, Node, Location

class Mapper(MapperProvider):
    def __init__(self, prefix="Part"):
        self.prefix = prefix

    async def generate_map(self, resource_path, resource_type, resource_id=None):
        print("DEBUG: mapping", resource_path)
        return ResourceMap(
            resource_id=resource_id or "x",
            type=resource_type,
            title="Notes",
            source_path=resource_path,
            nodes=[
                Node(
                    id="top",
                    title=self.prefix,
                    type="section",
                    location=Location(modality="text", lines=(1, 3)),
                    summary="The first lines",
                    children=[
                        Node(id="top.second", title="Second", type="line", location=Location(modality="text", lines=(2, 2)))
                    ],
                )
            ],
        )
"""

PROGRAM = """
import asyncio, json, os, sys
sys.path.insert(0, ".")
from citekit import CiteKitClient, parse_address, build_address, create_agent_context, Location, ResolvedEvidence
from citekit.models import ResourceMap, Node
from citekit.client import CiteKitClient as Same
from citekit.mapper.base import MapperProvider
from my_mapper import Mapper

assert Same is CiteKitClient and issubclass(Mapper, MapperProvider)

async def main():
    client = CiteKitClient(mapper=Mapper(), base_dir=".")
    made = await client.ingest("notes.txt", "text")
    assert isinstance(made, ResourceMap) and made.resource_id == "notes", made
    assert made.get_node("top.second").location.lines == (2, 2)
    assert made.get_node("nothing") is None
    assert made.list_node_ids() == ["top", "top.second"]
    assert made.metadata["source_size"] == 18 and len(made.metadata["source_hash"]) == 64
    assert client.list_maps() == ["notes"]
    again = client.get_map("notes")
    assert again == made, (again, made)
    assert json.loads(json.dumps(client.get_structure("notes")))["nodes"][0]["id"] == "top"
    evidence = client.resolve("notes", "top.second")
    assert isinstance(evidence, ResolvedEvidence)
    assert open(evidence.output_path).read() == "two\\n" and evidence.modality == "text"
    assert evidence.address == "text://notes#lines=2", evidence.address
    virtual = client.resolve("notes", "top", virtual=True)
    assert virtual.output_path is None and virtual.node.location.lines == (1, 3)
    assert [(r, n.id) for r, n in client.search("second")] == [("notes", "top.second")]
    changed = client.get_map("notes")
    changed.title = "Changed"
    changed.nodes.append(Node(id="last", title="Last", type="line", location=Location(modality="text", lines=(4, 4))))
    client.save_map(changed)
    assert client.get_map("notes").title == "Changed"
    assert open(client.resolve("notes", "last").output_path).read() == "four"
    assert client.resolve_from_url("text://notes#lines=2").node.id == "top.second"
    assert client.resolve_from_url("nonsense") is None
    assert client.is_visited("top.second") and not client.is_visited("never")
    for error, call in ((FileNotFoundError, lambda: client.get_map("none")), (ValueError, lambda: client.resolve("notes", "none"))):
        try:
            call()
        except error:
            pass
        else:
            raise AssertionError(error)
    text = create_agent_context([client.get_map("notes")])
    assert "## Changed (ID: notes, Type: text)" in text and "- **top**: Part - The first lines" in text
    assert json.loads(create_agent_context([made], format="json"))[0]["id"] == "notes"

asyncio.run(main())
assert parse_address("doc://book#pages=12-13") == ("book", Location(modality="document", pages=[12, 13]))
assert parse_address("video://lecture1#t=192-230") == ("lecture1", Location(modality="video", start=192.0, end=230.0))
assert parse_address("image://d#bbox=0.2,0.3,0.8,0.7")[1].bbox == (0.2, 0.3, 0.8, 0.7)
assert build_address("book", Location(modality="document", pages=[3, 4, 5])) == "doc://book#pages=3-5"
assert build_address("lecture", Location(modality="video", start=192.0, end=230.0)) == "video://lecture#t=192-230"
assert Location(modality="text", lines=(1, 2)).model_dump()["pages"] is None
assert ResourceMap.model_validate(json.loads(open(".resource_maps/notes.json").read())).resource_id == "notes"
print("RAN")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_program_with_its_own_mapper_runs_unchanged(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\nfour")
    (tmp_path / "my_mapper.py").write_text(MAPPER)
    (tmp_path / "program.py").write_text(PROGRAM)

    done = run(tmp_path, "program.py")

    assert ("RAN\n", 0) == (done.stdout, done.returncode), done.stderr


@pytest.mark.long
def test_a_mapper_file_is_used_from_the_command_line_and_its_prints_stay_off_stdout(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\nfour")
    (tmp_path / "my_mapper.py").write_text(MAPPER)

    done = run(
        tmp_path, "-m", "citekit", "ingest", "notes.txt", "--json",
        "--mapper", "my_mapper.py", "--mapper-config", '{"prefix": "Chapter"}',
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert "DEBUG" not in done.stdout
    assert '"Chapter"' in (tmp_path / ".resource_maps" / "notes_txt.json").read_text()


@pytest.mark.long
def test_the_types_of_0_2_recognise_the_values_of_today(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\n")
    program = (
        "from citekit import CiteKit, ResourceMap, Node\n"
        "made = CiteKit('.').ingest('notes.txt')\n"
        "assert isinstance(made, ResourceMap) and isinstance(made.nodes[0], Node)\n"
    )

    assert 0 == run(tmp_path, "-c", program).returncode
