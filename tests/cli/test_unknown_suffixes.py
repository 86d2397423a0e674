"""Whatever is mapped when it is named is also found in a folder: a suffix that says nothing leaves it to the content."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cli.program import Cli

NAMED = ("README", "app.conf", "script", "plain.xyz")
BINARY = b"\0\1\2\3" * 40


def filled(cli: Cli) -> None:
    for name in NAMED:
        cli.write(f"folder/{name}", "#!/bin/sh\nhello\n" if name == "script" else f"Words of {name}.\n")
    cli.write("folder/data.bin", BINARY)


def test_a_folder_holds_what_can_be_mapped_by_name(cli: Cli) -> None:
    filled(cli)

    said = cli("ingest", "folder")

    assert 0 == said.code, said.err
    assert "data.bin" in said.err
    assert len(NAMED) == len(cli.json("list")["resources"])
    for name in NAMED:
        assert 0 == cli("ingest", f"folder/{name}").code
    assert 1 == cli("ingest", "folder/data.bin").code


def test_a_sync_holds_it_too(cli: Cli) -> None:
    filled(cli)
    for path in (cli.here / "folder").iterdir():
        os.utime(path, (1, 1))

    assert 0 == cli("sync", "folder").code

    found = {Path(each["source_path"]).name for each in cli.json("list")["resources"]}
    assert set(NAMED) == found
