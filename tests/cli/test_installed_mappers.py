"""Mappers that installed packages offer through entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Cli

CODE = """
print("imported")
class Shouting:
    def __init__(self, prefix="Line"):
        self.prefix = prefix
    def generate_map(self, path, kind, resource_id):
        node = {"id": "first", "title": self.prefix, "type": "line", "lines": [1, 1]}
        return {"title": "Shouted", "type": kind, "nodes": [node]}
def make(**config):
    return Shouting(**config)
ready = Shouting()
nothing = 5
"""


def install(folder: Path, entries: str, package: str = "shouting", code: str = CODE) -> Path:
    """A package as pip leaves it in a folder (PyPA: recording installed projects)."""
    facts = folder / f"{package}-1.2.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (facts / "entry_points.txt").write_text(f"[citekit.mappers]\n{entries}\n")
    (folder / f"{package}_code.py").write_text(code)
    return folder


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


def test_a_class_a_factory_and_an_object_are_mappers_by_their_names(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting\nmake = shouting_code:make\nready = shouting_code:ready")
    cli.write("notes.txt", "one\n")
    for name in ("shout", "make", "ready"):
        answer = cli("ingest", "notes.txt", "--mapper", name, "--force", "--json", PYTHONPATH=str(site))
        stored = cli.json("structure", "notes_txt")

        assert (0, "imported\n") == (answer.code, answer.err)
        assert ("Shouted", f"custom:{name}") == (stored["title"], stored["metadata"]["mapper"]["name"])


def test_its_settings_reach_it_and_are_part_of_its_identity(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")
    cli.write("notes.txt", "one\n")
    ingest = ["ingest", "notes.txt", "--mapper", "shout", "--json"]

    first = cli(*ingest, PYTHONPATH=str(site)).document["ingested"][0]["mapped_now"]
    again = cli(*ingest, PYTHONPATH=str(site)).document["ingested"][0]["mapped_now"]
    other = cli(*ingest, "--mapper-config", '{"prefix": "Word"}', PYTHONPATH=str(site)).document["ingested"][0][
        "mapped_now"
    ]

    assert (True, False, True) == (first, again, other)
    assert "Word" == cli.json("inspect", "notes_txt", "first")["title"]


def test_it_may_be_the_mapper_of_the_environment(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")
    cli.write("notes.txt", "one\n")

    assert 0 == cli("ingest", "notes.txt", PYTHONPATH=str(site), CITEKIT_MAPPER="shout").code


@pytest.mark.long
def test_nothing_of_it_is_imported_before_its_name_is_asked_for(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")
    cli.write("notes.txt", "one\n")

    answers = [
        cli(*arguments, PYTHONPATH=str(site))
        for arguments in (["ingest", "notes.txt", "--mapper", "local"], ["list"], ["doctor"])
    ]

    assert [""] * 3 == [answer.err for answer in answers]


@pytest.mark.long
def test_the_doctor_lists_them(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")

    answer = cli("doctor", "-v", PYTHONPATH=str(site))

    assert "mapper 'shout'" in answer.out
    assert "from the package shouting 1.2" in answer.out


def test_an_unknown_name_is_told_the_installed_ones(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")
    cli.write("notes.txt", "one\n")

    answer = cli("ingest", "notes.txt", "--mapper", "whisper", PYTHONPATH=str(site))

    assert 2 == answer.code
    assert "There is no mapper named 'whisper'" in answer.err
    assert "shout" in answer.err


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("shout = shouting_code:nothing", "could not be loaded"),
        ("shout = shouting_code:Missing", "could not be loaded: AttributeError"),
        ("shout = not_there:Mapper", "could not be loaded: ModuleNotFoundError"),
        ("shout = shouting_code:object", "has no attribute"),
        ("shout = builtins:dict", "has no generate_map method"),
    ],
)
def test_one_that_cannot_be_loaded_is_one_clear_error(cli: Cli, site: Path, entry: str, says: str) -> None:
    install(site, entry)
    cli.write("notes.txt", "one\n")

    answer = cli("ingest", "notes.txt", "--mapper", "shout", PYTHONPATH=str(site))

    assert 2 == answer.code
    assert says in answer.err
    assert "'shout' of the package shouting 1.2" in answer.err


def test_two_packages_under_one_name_are_refused(cli: Cli, site: Path) -> None:
    install(site, "shout = shouting_code:Shouting")
    install(site, "shout = other_code:Shouting", "other")
    cli.write("notes.txt", "one\n")

    answer = cli("ingest", "notes.txt", "--mapper", "shout", PYTHONPATH=str(site))

    assert 2 == answer.code
    assert "Several packages provide a mapper called 'shout'" in answer.err


def test_our_own_names_cannot_be_taken(cli: Cli, site: Path) -> None:
    install(site, "local = shouting_code:Shouting")
    cli.write("notes.txt", "one\n")

    cli("ingest", "notes.txt", "--mapper", "local", PYTHONPATH=str(site))

    assert "local" == cli.json("structure", "notes_txt")["metadata"]["mapper"]["name"]
