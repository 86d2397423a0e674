"""`citekit ingest ARCHIVE.zip`: the files in a ZIP archive are mapped like those of a folder, and nothing else happens."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from citekit import CiteKit
from citekit.domain.address import parse_address
from tests.cli.program import Cli

NOTES = "# Notes\n\nThe mind is its own place.\n"


def archive(path: Path, **files: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return path


def unpacked(cli: Cli) -> list[str]:
    folder = cli.here / ".citekit_uploads"
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())


def test_the_files_of_an_archive_are_mapped_quoted_and_cut(cli: Cli) -> None:
    packed = archive(
        cli.here / "papers.zip", **{"a/notes.md": NOTES, "b/table.csv": "x,y\n1,2\n", "program.exe": "\0\1\2", "a/": ""}
    )

    said = cli("ingest", str(packed))

    assert "program.exe" in said.err
    assert "exact" in cli("quote", "text://notes_md", "The mind is its own place.").out
    evidence = cli.json("resolve", "text://notes_md#lines=3")
    assert NOTES.splitlines(keepends=True)[2] == Path(evidence["output_path"]).read_text("utf-8")
    assert ["notes_md", "table_csv"] == sorted(each["resource_id"] for each in cli.json("list")["resources"])
    agents = CiteKit(cli.here).app.for_clients()
    assert agents.resolve(parse_address("text://table_csv#lines=2")).output_path


def test_an_archive_is_unpacked_once(cli: Cli) -> None:
    packed = archive(cli.here / "papers.zip", **{"notes.md": NOTES})
    cli("ingest", str(packed))
    before = unpacked(cli)

    cli("ingest", str(packed))

    assert before == unpacked(cli)
    assert 1 == len(before)


def test_no_name_or_link_in_an_archive_leads_out_or_is_hidden(cli: Cli) -> None:
    packed = cli.here / "papers.zip"
    with zipfile.ZipFile(packed, "w") as made:
        for name in (
            "../out.md",
            "/abs.md",
            "a/../../up.md",
            ".hidden.md",
            "a\\b.md",
            "c:d.md",
            "ok/notes.md",
            "x/\x1b[31m.md",
        ):
            made.writestr(zipfile.ZipInfo(name), NOTES)
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/hostname")

    cli("ingest", str(packed))

    assert ["notes.md"] == [Path(each).name for each in unpacked(cli)]
    assert not list(cli.here.parent.glob("*.md"))


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("bomb", lambda path: archive(path, **{"zeros.txt": bytes(80 << 20)}), "larger than"),
        ("twice", lambda path: archive(path, **{"a.md": NOTES, "./a.md": NOTES}), "two files with the name"),
        ("encrypted", lambda path: encrypted(archive(path, **{"a.md": NOTES})), "encrypted"),
        ("damaged", lambda path: damaged(archive(path, **{"a.md": NOTES * 99})), "cannot be unpacked"),
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_one_sentence_and_leaves_nothing(
    cli: Cli, name: str, data: object, sentence: str
) -> None:
    packed = cli.here / f"{name}.zip"
    data(packed)  # type: ignore[operator]

    said = cli("ingest", str(packed))

    assert 1 == said.code
    assert sentence in said.err
    assert 1 == said.err.count("Error: ")
    assert [] == list((cli.here / ".citekit_uploads").iterdir())


def test_the_limit_of_an_archive_is_for_all_of_its_files(cli: Cli) -> None:
    packed = archive(cli.here / "bomb.zip", **{"first.txt": bytes(40 << 20), "second.txt": bytes(40 << 20)})
    limit = (100 * packed.stat().st_size + (64 << 20)) >> 20

    assert f"would be larger than {limit} MB when unpacked" in cli("ingest", str(packed)).err


def test_an_entry_whose_name_is_the_folder_itself_is_left_out(cli: Cli) -> None:
    done = cli("ingest", str(archive(cli.here / "a.zip", **{".": "x", "notes.md": NOTES})))

    assert (0, ["notes.md"]) == (done.code, [Path(each).name for each in unpacked(cli)])


def test_a_damaged_archive_does_not_keep_other_files_from_being_mapped(cli: Cli) -> None:
    packed = archive(cli.here / "damaged.zip", **{"a.md": NOTES * 99})
    damaged(packed)
    cli.write("good.md", NOTES)

    answer = cli("ingest", "damaged.zip", "good.md", "--json")

    assert 1 == answer.code
    assert ["damaged.zip"] == [each["path"] for each in answer.document["failed"]]
    assert ["good_md"] == [each["resource_id"] for each in cli.json("list")["resources"]]


def test_an_office_file_that_is_called_zip_is_mapped_as_such(cli: Cli) -> None:
    packed = archive(cli.here / "book.zip", **{"[Content_Types].xml": "<Types/>", "word/document.xml": "<x/>"})

    said = cli("ingest", str(packed))

    assert "unpacked" not in said.err
    assert not (cli.here / ".citekit_uploads").exists()


def test_an_id_needs_an_archive_of_one_file(cli: Cli) -> None:
    packed = archive(cli.here / "two.zip", **{"a.md": NOTES, "b.md": NOTES})

    assert "exactly one file" in cli("ingest", str(packed), "--id", "x").err


def encrypted(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(mark) + at
        data[place : place + 2] = struct.pack("<H", 1)
    path.write_bytes(data)


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[40:60] = bytes(20)
    path.write_bytes(data)
