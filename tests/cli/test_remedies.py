"""Messages say what happened, and their remedies fit the caller and name the home."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from citekit.adapters.access.token_file import TokenFile
from citekit.adapters.clients.settings_files import FileMcpClients
from citekit.adapters.formats.mail.messages import Attachment
from citekit.adapters.search.vector_index.entry_rules import sound_vector
from citekit.adapters.storage.viewed_homes import ViewedHomes
from citekit.adapters.system.file_locks import FileLocks
from citekit.adapters.system.home_files import unsafe
from citekit.domain.errors import (
    MapperUnavailable,
    ModelMismatch,
    RequestRefused,
    SourceChanged,
    SourceMoved,
    in_a_note,
)
from citekit.domain.library.ledger import Deed
from citekit.entrypoints.cli.errors import in_same_home
from citekit.entrypoints.library.ingest_command import ingest_again
from citekit.entrypoints.web.requests import message_of
from tests.cli.program import Cli
from tests.contracts.test_ledger import entry


def test_notes_about_changed_and_moved_sources_name_no_options() -> None:
    changed, moved = in_a_note(SourceChanged("a", "/b.txt")), in_a_note(SourceMoved("a", "/b.txt"))

    assert "The source of 'a' has changed since it was mapped: /b.txt. Map it again." == changed
    assert "The source of 'a' is not at /b.txt. Put it back, or ingest it from its new path." == moved


def test_the_command_that_maps_again_names_the_home(cli: Cli) -> None:
    source = cli.write("bees.md", "# Bees\n\nBees dance.\n")
    cli("ingest", "bees.md", "--home", "there")
    source.write_text("# Bees\n\nBees sleep.\n")
    again = f"(citekit ingest --force --id bees_md {source} --home {cli.here / 'there'})"

    one = cli("resolve", "bees_md", "lines=3", "--home", "there")
    several = cli("quote", "bees_md", "Bees dance.", "Bees sleep.", "--home", "there")
    health = cli("doctor", "--home", "there")

    assert again in one.err
    assert 2 == several.out.count(again)
    assert "run citekit ingest PATH --home there again" in health.out


def test_a_question_without_pages_says_what_was_not_searched(cli: Cli) -> None:
    sources = [cli.write(name, "# Bees\n\nBees dance.\n") for name in ("bees.md", "wasps.md")]
    cli("ingest", "bees.md", "wasps.md")
    for source in sources:
        source.unlink()
    shutil.rmtree(cli.here / ".citekit_cache")

    answer = cli("ask", "What do bees do?", "--service", "none")

    assert 1 == answer.code
    assert "Not searched: bees_md: The source of 'bees_md' is not at " in answer.out


def test_faults_of_an_imported_map_are_repaired_in_its_data(cli: Cli) -> None:
    data = '{"resource_id": "x", "title": "X", "type": "text", "nodes": [{"id": "a", "title": "A", "type": "s", '
    cli.write("x.json", data + '"location": {"modality": "text", "lines": [1, 2]}}]}')
    imported = cli("import", "x.json", "--adapter", "generic", "--id", "x")
    assert 0 == imported.code, imported.err
    path = cli.here / ".resource_maps" / "x.json"
    path.write_text(path.read_text().replace('"id": "a"', '"id": ""'))

    answer = cli("validate", "x", "--fix")

    wanted = f"citekit import {cli.here / 'x.json'} --adapter generic --id x --force"
    assert wanted in answer.err


def test_the_command_that_ingests_a_book_again_has_its_options() -> None:
    given = {"threshold": 0.4, "min_chunk_size": 200, "max_chunk_size": 900, "hierarchical": False}
    options = "--threshold 0.4 --max-words 900 --no-chapters"
    named = "--title Moby-Dick --author 'Herman Melville' --language eng"

    of_file, of_book = entry(Deed.STARTED, parameters=given), entry(Deed.STARTED, parameters=given, book_id=7)

    assert f"ingest-file /books/moby.epub {named} {options}" == ingest_again(of_file)
    assert f"ingest 7 {options}" == ingest_again(of_book)
    assert f"ingest-file /books/moby.epub {named}" == ingest_again(entry(Deed.STARTED))
    assert "--language" not in ingest_again(entry(Deed.STARTED, language="unknown"))


def test_a_vector_of_another_length_names_the_home() -> None:
    with pytest.raises(ModelMismatch, match=r"\(citekit library rebuild --collection books --home /h\)"):
        sound_vector((1.0,), 2, "books", " --home /h")


def test_a_file_that_is_gone_is_no_device(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")

    assert "was removed or replaced while CiteKit opened it" in str(unsafe(str(tmp_path / "gone")))
    assert "was removed or replaced while CiteKit opened it" in str(unsafe(str(tmp_path / "file")))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
        assert "is a named pipe" in str(unsafe(str(tmp_path / "pipe")))


def test_a_token_file_that_is_too_large_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_bytes(b" " * (4 * 2**20 + 1))
    path.chmod(0o600)

    with pytest.raises(RequestRefused, match="larger than the limit of 4 MB"):
        TokenFile(path, FileLocks(tmp_path / "locks")).entries()


@pytest.mark.skipif(os.name != "posix", reason="makes a link")
def test_a_link_in_place_of_the_list_of_viewed_homes_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("[]")
    (tmp_path / "homes.json").symlink_to(tmp_path / "other")

    assert [] == list(ViewedHomes(tmp_path / "homes.json", FileLocks(tmp_path / "locks"))())


def test_an_unknown_settings_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(RequestRefused, match="Claude Desktop is unknown, because APPDATA is not set"):
        FileMcpClients({}, tmp_path).place("claude-desktop")


def test_the_size_of_an_attachment_is_counted() -> None:
    assert ["x/y, 1 byte", "x/y, 1,000 bytes"] == [Attachment("a", "x/y", b"a" * count).kind for count in (1, 1000)]


def test_commands_in_messages_name_the_home_once() -> None:
    text = "Run citekit ingest --force a, or citekit library remove b, and see citekit doctor."

    assert (
        "Run citekit ingest --home h --force a, or citekit library remove --home h b, and see citekit doctor --home h."
        == (in_same_home(text, " --home h"))
    )
    assert text == in_same_home(text, "")
    assert "citekit doctor --home g" == in_same_home("citekit doctor --home g", " --home h")


def test_the_page_names_no_options_of_commands() -> None:
    mapper = message_of(MapperUnavailable("No model. Choose another (--model), or use --mapper local."))

    assert "No model. Choose another (CITEKIT_MODEL), or use CITEKIT_MAPPER=local." == mapper
    changed = (
        "The source of 'a' has changed since it was mapped: /b. To map it again, run: citekit ingest --force --id a /b"
    )
    assert f"{changed} --home /h" == message_of(SourceChanged("a", "/b", home="/h"))
    assert "There is no edit." == message_of(RequestRefused("There is no edit."))


def test_a_rename_to_the_same_id_and_a_misspelled_command_are_answered_truly(cli: Cli) -> None:
    cli.write("bees.md", "# Bees\n\nBees dance.\n")
    cli("ingest", "bees.md")

    assert "'bees_md' already has this ID. Nothing was changed.\n" == cli("rename", "bees_md", "bees_md").out
    assert "Did you mean 'clear'? See 'citekit cache --help'." in cli("cache", "clean").err


def test_an_export_does_not_replace_its_source(cli: Cli) -> None:
    source = cli.write("bees.md", "# Bees\n\nBees dance.\n")
    cli("ingest", "bees.md")

    refused = [cli("export", "bees_md", "-o", "bees.md", *force) for force in ((), ("--force",))]

    assert "# Bees\n\nBees dance.\n" == source.read_text()
    assert all("bees.md is the source of 'bees_md', so it is not overwritten." in each.err for each in refused)


def test_the_entry_of_a_client_keeps_its_home(tmp_path: Path, cli: Cli) -> None:
    settings = tmp_path / ".cursor" / "mcp.json"
    settings.parent.mkdir()
    args = ["-m", "citekit", "serve", "--home", "/a b"]
    settings.write_text(json.dumps({"mcpServers": {"citekit": {"command": "/nowhere/python", "args": args}}}))

    health = cli("doctor", "--home", "there", HOME=str(tmp_path))

    assert "remedy: citekit connect cursor --home '/a b'" in health.out
