"""Messages and mailboxes: their maps, their texts, and evidence that the standard library reads again."""

from __future__ import annotations

import mailbox
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from citekit import CiteKit
from citekit.domain.errors import FormUnsupported, SourceUnsupported


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    return CiteKit(home=tmp_path / "home")


def message(subject: str, body: str, sender: str = "Zoë <zoe@example.com>", **headers: str) -> EmailMessage:
    made = EmailMessage(policy=policy.SMTP)
    made["From"], made["To"], made["Subject"] = sender, "bob@example.com", subject
    made["Date"] = "Mon, 06 May 2024 10:00:00 +0000"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(body)
    return made


def write(path: Path, *messages: EmailMessage) -> Path:
    if path.suffix == ".eml":
        path.write_bytes(messages[0].as_bytes())
    else:
        box = mailbox.mbox(path)
        for each in messages:
            box.add(each)
        box.close()
    return path


def with_attachments() -> EmailMessage:
    made = message("Übersicht der Regale", "Plain words.\n")
    made.add_alternative(
        "<style>.x{display:none}</style><p>Shown words.</p><p class=x>Secret words.</p><script>alert(1)</script>",
        subtype="html",
    )
    made.add_attachment(b"name,pages\nOne,12\n", maintype="text", subtype="csv", filename="shelf.csv")
    made.add_attachment(b"\x00\x01", maintype="application", subtype="x-msdownload", filename="../../run.exe")
    return made


def test_a_message_has_its_decoded_subject_headers_and_attachments(kit: CiteKit, tmp_path: Path) -> None:
    found = kit.ingest(write(tmp_path / "a.eml", with_attachments()))
    nodes = [(node.type, node.title) for node in found.walk()]

    assert found.title == "Übersicht der Regale"
    assert nodes == [
        ("message", "Übersicht der Regale"),
        ("body", "Message"),
        ("attachment", "shelf.csv"),
        ("attachment", "../../run.exe"),
    ]
    assert found.metadata["attachments"][0] == {"name": "shelf.csv", "media_type": "text/csv", "size": 18}


def test_evidence_is_the_message_and_the_attachment_as_files(kit: CiteKit, tmp_path: Path) -> None:
    path = write(tmp_path / "a.eml", with_attachments())
    name = kit.ingest(path).resource_id

    whole = kit.resolve(f"doc://{name}#chapter=1").output_path
    table = kit.resolve(f"doc://{name}#chapter=2").output_path
    program = kit.resolve(f"doc://{name}#chapter=3").output_path

    assert whole is not None
    assert table is not None
    assert program is not None
    assert whole.suffix == ".eml"
    assert whole.read_bytes() == path.read_bytes()
    assert message_from_bytes(whole.read_bytes(), policy=policy.default)["subject"] == "Übersicht der Regale"
    assert (table.suffix, table.read_bytes()) == (".csv", b"name,pages\nOne,12\n")
    assert (program.suffix, program.read_bytes()) == (".bin", b"\x00\x01")


def test_a_range_that_begins_with_an_attachment_is_no_mailbox(kit: CiteKit, tmp_path: Path) -> None:
    name = kit.ingest(write(tmp_path / "a.mbox", with_attachments(), message("Lunch", "At noon.\n"))).resource_id

    for chapters in ("2-3", "3-4"):
        with pytest.raises(FormUnsupported, match="begins with an attachment"):
            kit.resolve(f"doc://{name}#chapter={chapters}")
    text = kit.resolve(f"doc://{name}#chapter=2-3", form="text").output_path
    whole = kit.resolve(f"doc://{name}#chapter=1-3").output_path

    assert text is not None
    assert whole is not None
    assert "One,12" in text.read_text("utf-8")
    assert "Shown words." not in text.read_text("utf-8")
    assert whole.suffix == ".eml"


def test_quotes_of_the_shown_body_hold_and_hidden_ones_are_not_visible(kit: CiteKit, tmp_path: Path) -> None:
    name = kit.ingest(write(tmp_path / "a.eml", with_attachments())).resource_id

    assert kit.verify_quote(f"doc://{name}#chapter=1", "Shown words.").holds
    assert not kit.verify_quote(f"doc://{name}#chapter=1", "Secret words.").holds
    assert kit.verify_quote(f"doc://{name}#chapter=2", "One,12").holds
    assert kit.find_text("From: Zoë", name).hits


def test_a_mailbox_has_threads_of_messages(kit: CiteKit, tmp_path: Path) -> None:
    first = message("Shelves", "Have they come?\n\nFrom here on, quoted.\n", Message_ID="<1@example.com>")
    other = message("Lunch", "At noon.\n", Message_ID="<2@example.com>")
    answer = message("Re: Shelves", "They have.\n", In_Reply_To="<1@example.com>")
    found = kit.ingest(write(tmp_path / "a.mbox", first, other, answer))

    assert [(node.type, node.title) for node in found.walk()] == [
        ("thread", "Shelves"),
        ("message", "Shelves"),
        ("message", "Re: Shelves"),
        ("message", "Lunch"),
    ]
    evidence = kit.resolve(f"doc://{found.resource_id}#chapter=1-2").output_path
    assert evidence is not None
    assert [each["subject"] for each in mailbox.mbox(evidence)] == ["Shelves", "Re: Shelves"]
    assert kit.verify_quote(f"doc://{found.resource_id}#chapter=1", "From here on, quoted.").holds


@pytest.mark.long
@pytest.mark.parametrize(
    "data",
    [
        b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\nno headers",
        b"Subject: a\nContent-Type: multipart/mixed\n\nno boundary",
        b"Subject: =?utf-9?b?!!!?= =?utf-8?q?=ff?=\nContent-Type: text/plain; charset=base64\n\nwords",
        b"Subject: a\nContent-Transfer-Encoding: base64\n\n!!!not base64!!!",
        b"Subject: " + b"a" * 1_000_000 + b"\n\nwords",
        b"Subject: a\n" + b"".join(b"X-%d: y\n" % number for number in range(20_000)) + b"\nwords",
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000)),
        b"Content-Type: message/rfc822\n\n" * 3000,
        b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\nwords\n" * 5000 + b"--x--",
    ],
)
def test_hostile_messages_are_mapped(kit: CiteKit, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(data)
    assert kit.ingest(path).nodes


def test_a_file_that_is_no_mail_is_refused_in_one_sentence(kit: CiteKit, tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_bytes(b"nothing like mail\n")

    with pytest.raises(SourceUnsupported, match=r"a\.mbox has the extension \.mbox but is text"):
        kit.ingest(path)


def test_a_message_that_changed_is_read_again(kit: CiteKit, tmp_path: Path) -> None:
    path = write(tmp_path / "a.eml", message("Shelves", "The shelves are made of oak.\n"))
    assert kit.ingest(path).title == "Shelves"
    write(path, message("Tables", "The table is made of ash.\n"))
    assert kit.ingest(path).title == "Tables"


_RUN = [
    "a.js",
    "a.mjs",
    "a.jsx",
    "a.html",
    "a.xhtml",
    "a.svg",
    "a.xsl",
    "a.hta",
    "a.exe",
    "a.com",
    "a.scr",
    "a.bat",
    "a.cmd",
    "a.ps1",
    "a.vbs",
    "a.wsf",
    "a.lnk",
    "a.url",
    "a.jar",
    "a.sh",
    "a.py",
    "a.pl",
    "a.rb",
    "a.php",
    "a.lua",
    "a.r",
    "a.jl",
    "a.docm",
    "a.dotm",
    "a.pptm",
    "a.ppsm",
    "a.xlsm",
    "a.xltm",
    "a.xls",
    "a.doc",
    "a.iso",
    "a.msi",
    "a.desktop",
    "a.command",
    "a.app",
    "a.apk",
    "a.reg",
    "a.pdf.exe",
    "a.EXE",
    "a.Js",
    "a.txt.lnk",
    "a.mht",
    "a.scpt",
    "a.sql",
    "a.ipynb",
    "a.css",
]


@pytest.mark.parametrize("suffix", [".eml", ".mbox"])
def test_no_attachment_has_a_suffix_that_a_program_runs(kit: CiteKit, tmp_path: Path, suffix: str) -> None:
    made = message("Files", "See below.\n")
    for name in _RUN:
        made.add_attachment(b"alert(1)", maintype="application", subtype="octet-stream", filename=name)
    name = kit.ingest(write(tmp_path / f"a{suffix}", made)).resource_id
    for number, attached in enumerate(_RUN, 2):
        evidence = kit.resolve(f"doc://{name}#chapter={number}")
        assert evidence.output_path is not None
        assert evidence.output_path.suffix in (".txt", ".bin"), attached
        assert evidence.receipt is not None
        assert evidence.receipt.media_type in ("text/plain", "application/octet-stream"), attached
        assert evidence.output_path.read_bytes() == b"alert(1)"
