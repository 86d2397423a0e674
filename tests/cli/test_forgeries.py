"""Whatever is done with genuine evidence and its receipt, `verify` calls nothing genuine but the evidence's own bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.domain.errors import FaultyAnswer
from citekit.wire.receipt_documents import read_answer, read_document
from tests.cli.program import Cli

SAMPLE = Path(__file__).parents[1] / "wire" / "samples" / "receipt_v1.json"
PLAIN: dict[str, Any] = json.loads(SAMPLE.read_text("utf-8"))
FINDING = "The contract was never signed."


@frozen
class Genuine:
    """A home with two pieces of evidence of one source, and their answers of `resolve --json`."""

    cli: Cli
    answers: list[dict[str, Any]]

    @property
    def bytes(self) -> set[bytes]:
        """The bytes of all evidence; saved, since a test may replace the files."""
        return {b"one\n", b"two\nthree\n"}

    def restore(self) -> None:
        """Put the evidence back under its names."""
        for each, data in zip(self.answers, (b"one\n", b"two\nthree\n"), strict=True):
            path = Path(each["output_path"])
            path.unlink(missing_ok=True)
            path.write_bytes(data)


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Genuine:
    cli = Cli(tmp_path_factory.mktemp("home"))
    cli.write("t.txt", "one\ntwo\nthree\n")
    cli.within("ingest", "t.txt")
    parts = [f"text://t_txt#lines={lines}" for lines in ("1", "2-3")]
    return Genuine(cli, [cli.within("resolve", part, "--json").document for part in parts])


def containers(receipt: dict[str, Any], answer: dict[str, Any], evidence: bytes) -> st.SearchStrategy[bytes]:
    """Files that hold a receipt or evidence and more, or less, or in another way."""
    text = json.dumps(receipt)
    keys = st.sampled_from(sorted(receipt))
    documents: st.SearchStrategy[object] = st.one_of(
        st.sampled_from(
            [
                receipt,
                answer,
                {"finding": FINDING, "receipt": receipt},
                {**answer, "finding": FINDING},
                {**receipt, "finding": FINDING},
                {"receipt_version": 1, "receipt": receipt, "finding": FINDING},
                {**receipt, "location": {**receipt["location"], "finding": FINDING}},
                {**receipt, "options": {**receipt["options"], "finding": FINDING}},
                {**receipt, "owner": FINDING},
                {**receipt, "notes": [FINDING]},
                [receipt],
                [FINDING, receipt],
                text,
            ]
        ),
        keys.map(lambda key: {name: value for name, value in receipt.items() if name != key}),
        st.tuples(keys, st.none() | st.booleans() | st.integers() | st.text() | st.just([])).map(
            lambda change: {**receipt, change[0]: change[1]}
        ),
        keys.map(lambda key: {**receipt, key: str(receipt[key]).upper()}),
    )
    written = documents.map(lambda document: json.dumps(document).encode())
    odd = st.sampled_from(
        [
            text[:-1] + f', "finding": "{FINDING}"}}',
            text[:-1] + ', "resource_id": "other"}',
            text[:-1] + ', "bytes_from": NaN}',
            text + text,
            text + f"\n{FINDING}\n",
            f"{FINDING}\n{text}",
            f"<!--{text}-->",
        ]
    ).map(str.encode)
    encoded = st.sampled_from(["utf-8-sig", "utf-16", "utf-32", "utf-16-le"]).map(text.encode)
    edits = st.tuples(st.integers(0, len(evidence)), st.binary(max_size=3), st.integers(0, 2)).map(
        lambda edit: evidence[: edit[0]] + edit[1] + evidence[edit[0] + edit[2] :]
    )
    return st.one_of(written, odd, encoded, edits, st.just(evidence), st.binary(max_size=20))


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_nothing_but_the_bytes_of_evidence_is_genuine(genuine: Genuine, data: st.DataObject) -> None:
    cli = genuine.cli
    genuine.restore()
    answer = data.draw(st.sampled_from(genuine.answers))
    own = Path(answer["output_path"])
    content = data.draw(containers(answer["receipt"], answer, own.read_bytes()))
    where = data.draw(st.sampled_from([own, own.with_name("new.json"), cli.here / "copy.txt", cli.here / "link"]))
    where.unlink(missing_ok=True)
    if where.name == "link":
        (cli.here / "target").write_bytes(content)
        where.symlink_to("target")
    else:
        where.write_bytes(content)
    arguments = [str(where)]
    if data.draw(st.booleans()):
        other = data.draw(st.sampled_from(genuine.answers))
        (cli.here / "given.json").write_bytes(
            data.draw(containers(other["receipt"], other, content) | st.just(json.dumps(other["receipt"]).encode()))
        )
        arguments += ["--receipt", "given.json"]

    verdict = cli.within("verify", *arguments, "--json")

    assert verdict.code != 0 or content in genuine.bytes
    assert verdict.document.get("genuine", False) is (verdict.code == 0)
    assert verdict.code in (0, 1, 3)


@pytest.mark.parametrize("name", ["finding.txt", "finding.json"])
def test_a_document_that_contains_a_receipt_is_not_genuine(genuine: Genuine, name: str) -> None:
    forged = json.dumps({"finding": FINDING, "receipt": genuine.answers[0]["receipt"]})
    own = Path(genuine.answers[0]["output_path"])
    genuine.cli.write(name, forged)
    own.unlink()
    own.write_text(forged)

    outside, inside = genuine.cli.within("verify", name), genuine.cli.within("verify", str(own), "--json")
    own.unlink()
    own.write_text(json.dumps(genuine.answers[0]["receipt"]))
    receipt_as_evidence = genuine.cli.within("verify", str(own), "--json")

    assert 1 == outside.code
    assert f"There is no receipt for {name}." in outside.err
    assert (1, "evidence-edited") == (inside.code, inside.document["verdict"])
    assert (1, "evidence-edited") == (receipt_as_evidence.code, receipt_as_evidence.document["verdict"])


def test_evidence_that_is_named_by_a_link_is_compared_under_its_own_name(genuine: Genuine) -> None:
    genuine.restore()
    own = Path(genuine.answers[0]["output_path"])
    own.write_text(json.dumps(genuine.answers[0]["receipt"]))
    link = genuine.cli.here / "linked.json"
    link.unlink(missing_ok=True)
    link.symlink_to(own)

    verdict = genuine.cli.within("verify", "linked.json", "--json")

    assert (1, "evidence-edited") == (verdict.code, verdict.document["verdict"])


def test_a_receipt_that_was_lost_does_not_make_its_evidence_a_receipt(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cli.write("t.txt", "one\n")
    cli.within("ingest", "t.txt")
    receipt = cli.within("resolve", "text://t_txt#lines=1", "--json").document["receipt"]
    cli.write("log.txt", json.dumps(receipt) + "\n")
    cli.within("ingest", "log.txt")
    made = Path(cli.within("resolve", "text://log_txt#lines=1", "--json").document["output_path"])
    shutil.rmtree(made.parent / ".receipts")

    verdict = cli.within("verify", str(made), "--json")

    assert (1, "ReceiptMissing") == (verdict.code, verdict.document["error"]["type"])


@pytest.mark.parametrize(
    "form",
    [
        PLAIN,
        {**PLAIN, "owner": "the node chapter_2 of book"},
        {**PLAIN, "bytes_from": 1.5},
        {**{key: value for key, value in PLAIN.items() if key != "notes"}, "bytes_from": None},
        {**PLAIN, "notes": []},
    ],
    ids=["stored", "in the output folder", "of a clip", "early, null", "early, empty"],
)
def test_every_stored_form_is_a_receipt(form: dict[str, Any]) -> None:
    assert read_document(json.dumps(form, indent=2).encode(), "receipt") is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps({**PLAIN, "finding": FINDING}), "'finding': a receipt has no such key"),
        (json.dumps({**PLAIN, "extractor": {**PLAIN["extractor"], "by": "me"}}), "extractor.'by': a receipt has no"),
        (json.dumps({**PLAIN, "receipt_version": True}), "receipt_version: must be a whole number, not True"),
        (json.dumps({**PLAIN, "receipt_version": 1.0}), "receipt_version: must be a whole number, not 1.0"),
        (json.dumps({**PLAIN, "owner": ["me"]}), "owner: must be a string, not ['me']"),
        (json.dumps({key: value for key, value in PLAIN.items() if key != "address"}), "address: is missing"),
        (json.dumps(PLAIN)[:-1] + ', "media_type": "x/y"}', "'media_type': the key occurs twice"),
        (json.dumps(PLAIN)[:-1] + ', "bytes_from": NaN}', "NaN"),
        (json.dumps({**PLAIN, "source_digest": PLAIN["source_digest"].upper()}), "source_digest"),
    ],
)
def test_a_receipt_with_anything_else_in_it_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(FaultyAnswer) as refusal:
        read_document(text.encode(), "receipt.json")

    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xef\xbb\xbf" + json.dumps(PLAIN).encode(),
        json.dumps(PLAIN).encode("utf-16"),
        json.dumps(PLAIN).encode() + b"x",
        b'{"receipt_version": ' + b"1" * 5000 + b"}",
        json.dumps({"finding": FINDING, "receipt": PLAIN}).encode(),
    ],
)
def test_what_is_no_receipt_is_not_read_as_one(data: bytes) -> None:
    assert read_document(data, "file") is None
    assert read_answer(data, "file") is None
