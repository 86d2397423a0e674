"""`verify`: the verdict in one word."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import json
import shutil

import pymupdf
import pytest

from citekit.application.verify import Ruling
from tests.cli.program import Cli


def test_the_command_says_the_ruling_to_people_and_programs(cli: Cli) -> None:
    cli.write("t.txt", "one\ntwo\n")
    cli.within("ingest", "t.txt")
    found = cli.within("resolve", "text://t_txt#lines=1", "--json").document
    (cli.here / "good.json").write_text(json.dumps(found["receipt"]))
    (cli.here / "bad.json").write_text(json.dumps({**found["receipt"], "notes": ["Signed."]}))

    good = cli.within("verify", found["output_path"], "--receipt", "good.json", "--json")
    bad, told = cli.within("verify", "bad.json", "--json"), cli.within("verify", "bad.json")
    none = cli.within("verify", found["output_path"], "--receipt", "t.txt", "--json")

    assert (0, "genuine", ["genuine"]) == (good.code, good.document["verdict"], good.document["verdicts"])
    assert (1, "receipt-edited") == (bad.code, bad.document["verdict"])
    assert "(receipt-edited)" in told.err
    assert (1, "FaultyAnswer") == (none.code, none.document["error"]["type"])


def test_a_receipt_alone_has_a_verdict_and_an_exit_code_of_its_own(cli: Cli) -> None:
    cli.write("t.txt", "one\ntwo\n")
    cli.within("ingest", "t.txt")
    found = cli.within("resolve", "text://t_txt#lines=1", "--json").document
    cli.write("receipt.json", json.dumps(found["receipt"]))
    cli.write("answer.json", json.dumps(found))

    alone, told = cli.within("verify", "receipt.json", "--json"), cli.within("verify", "receipt.json")
    answer = cli.within("verify", "answer.json")
    with_answer = cli.within("verify", found["output_path"], "--receipt", "answer.json")

    assert (3, "receipt-only", False, False) == (
        alone.code, alone.document["verdict"], alone.document["genuine"], alone.document["refuted"],
    )  # fmt: skip
    assert "ReceiptOnly" == alone.document["error"]["type"]
    assert (3, False) == (told.code, "Genuine" in told.out)
    assert "no file was checked" in told.err
    assert "To check a file, too, run: citekit verify FILE --receipt " in told.err
    assert 1 == answer.code
    assert "There is no receipt for answer.json" in answer.err
    assert 0 == with_answer.code


def test_a_changed_copy_in_the_cache_is_no_fault_of_the_file(cli: Cli) -> None:
    cli.write("t.txt", "one\ntwo\n")
    cli.within("ingest", "t.txt")
    found = cli.within("resolve", "text://t_txt#lines=1", "--json").document
    shutil.copy(found["output_path"], cli.here / "copy.txt")
    (cached,) = (path for path in cli.here.rglob("evidence/objects/**/*") if path.is_file())
    cached.chmod(0o644)
    cached.write_text("changed")

    told = cli.within("verify", "copy.txt")
    cli.within("cache", "verify")
    again = cli.within("verify", "copy.txt")

    assert "This home's cached copy of the evidence was modified (cache-edited)." in told.err
    assert ("not genuine" in told.err, told.code, again.code) == (False, 1, 0)


def test_a_stored_receipt_that_is_evidence_itself_is_compared_as_evidence(cli: Cli) -> None:
    cli.write("t.txt", "one\ntwo\n")
    cli.within("ingest", "t.txt")
    made = cli.within("resolve", "text://t_txt#lines=1", "--json").document
    cli.write("log.txt", json.dumps(made["receipt"]) + "\n")
    cli.within("ingest", "log.txt")
    evidence = cli.within("resolve", "text://log_txt#lines=1", "--json").document["output_path"]

    verdict = cli.within("verify", evidence, "--json")

    assert (0, "text://log_txt#lines=1") == (verdict.code, verdict.document["address"])


@pytest.mark.long
def test_without_the_password_of_the_source_it_cannot_be_told(cli: Cli) -> None:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 100), "Secret.")
        document.save(cli.here / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="foo", owner_pw="bar")
    cli.within("ingest", "locked.pdf", "--password", "foo")
    made = cli.within("resolve", "doc://locked#pages=1", "--password", "foo", "--json").document["output_path"]

    none, opened = cli.within("verify", made, "--json"), cli.within("verify", made, "--password", "foo")
    told = cli.within("verify", made, "--password", "wrong").err

    assert (1, "not-cut", False) == (none.code, none.document["verdict"], none.document["refuted"])
    assert opened.code == 0
    assert told.rstrip().endswith(
        "(not-cut): 'locked.pdf' is encrypted, and the password in `--password` or CITEKIT_PASSWORD is wrong."
    )


def test_every_ruling_is_in_the_help_of_the_command(cli: Cli) -> None:
    told = cli.within("verify", "--help").out

    assert [] == [
        ruling.value for ruling in Ruling if f"\n    {ruling.value} " not in told.replace("\n      ", "\n    ")
    ]
