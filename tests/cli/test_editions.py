"""Maps of one file by different mappers are kept and can be chosen."""

from __future__ import annotations

from citekit.adapters.mappers.local import VERSION
from tests.cli.program import Cli

MAPPER = """
class Mapper:
    def generate_map(self, path, kind, resource_id):
        place = {"modality": "text", "lines": [1, 2]}
        return {"type": kind, "title": "Mine", "nodes": [{"id": "mine", "title": "Mine", "type": "part", "location": place}]}
"""


def test_an_earlier_map_is_listed_and_taken_into_use_again(cli: Cli) -> None:
    cli.write("code.py")
    (cli.here / "mine.py").write_text(MAPPER)
    cli("ingest", "code.py")
    cli("ingest", "code.py", "--mapper", "mine.py")

    listed = cli("versions", "code_py", "--json").document["editions"]
    chosen = cli("versions", "code_py", "--use", "local", "--json").document["editions"]

    assert [("custom:mine", True), ("local", False)] == [
        (row["mapper"].rpartition(":")[0], row["in_use"]) for row in listed
    ]
    assert f"local:{VERSION}" == chosen[0]["mapper"]
    assert "first" in cli("structure", "code_py").out


def test_an_edition_that_is_none_names_those_that_are(cli: Cli) -> None:
    cli.write("code.py")
    cli("ingest", "code.py")

    answer = cli("versions", "code_py", "--use", "gemini")

    assert (2, f"Error: 'gemini' matches no version of 'code_py'. Available versions: local:{VERSION}.\n") == (
        answer.code,
        answer.err,
    )
