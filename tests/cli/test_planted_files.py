"""Files that came into a home from somebody else, as in an archive or by `git pull`, and that CiteKit did not write."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.program import Cli

TRUE = "The drug is not safe.\n"
FALSE = "The drug is now safe.\n"


def book(folder: Path, text: str) -> tuple[Cli, Path]:
    """A home with a mapped file of that text, and the evidence of its first line."""
    folder.mkdir()
    cli = Cli(folder)
    cli.write("book.txt", f"{text}Another line.\n")
    cli.within("ingest", "book.txt")
    return cli, Path(cli.within("resolve", "text://book_txt#lines=1", "--json").document["output_path"])


def test_a_file_that_looks_like_a_copy_of_evidence_is_not_handed_out(tmp_path: Path) -> None:
    cli, evidence = book(tmp_path / "theirs", TRUE)
    stored = next(path for path in (cli.here / ".citekit_cache" / "evidence" / "objects").rglob("*") if path.is_file())
    looks = evidence.stat()
    evidence.unlink()
    evidence.write_text(FALSE)
    evidence.chmod(looks.st_mode)
    os.utime(evidence, ns=(looks.st_atime_ns, looks.st_mtime_ns))
    shutil.copytree(cli.here, tmp_path / "ours")  # with modes and times of modification, as tar keeps them
    cli = Cli(tmp_path / "ours")
    cli.within("ingest", "book.txt")
    assert (cli.here / stored.relative_to(tmp_path / "theirs")).is_file()

    again = cli.within("resolve", "text://book_txt#lines=1", "--json").document

    assert Path(again["output_path"]).read_text() == TRUE


@pytest.mark.parametrize("planted", ["receipts", "earlier sources"])
def test_no_planted_file_vouches_for_another_source_of_an_id(tmp_path: Path, planted: str) -> None:
    theirs, evidence = book(tmp_path / "theirs", FALSE)
    ours, _ = book(tmp_path / "ours", TRUE)
    receipts = theirs.here / ".citekit_output" / ".receipts"
    if planted == "receipts":
        shutil.copytree(receipts, ours.here / ".citekit_output" / ".receipts", dirs_exist_ok=True)
    else:
        noted = ours.here / ".resource_maps" / ".editions" / "book_txt" / "sources.txt"
        noted.parent.mkdir(parents=True)
        digest = hashlib.sha256((theirs.here / "book.txt").read_bytes()).hexdigest()
        noted.write_text(f"{digest}\n{digest} {'0' * 32}\n")

    said = ours("verify", str(evidence), "--receipt", str(receipts / f"{evidence.name}.json"), "--json")

    assert said.code == 1
    assert said.document["verdict"] == "other-source"
