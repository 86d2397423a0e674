"""What is stored beside maps and receipts has a version, and its frozen samples are still read the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUpload, OrphanedUploads
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.system.file_state import FileState
from citekit.container import INDEX
from citekit.domain.digest import Digest
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages

RECORD = {
    "state": [1, 2, 3, 4, 5],
    "since": 10.5,
    "seen": 11.5,
    "boot": "a run",
    "extraction": {
        "suffix": ".pdf",
        "media_type": "application/pdf",
        "extent": {"modality": "document", "pages": [1, 2]},
        "notes": ["A note."],
    },
    "created": "2026-02-03T04:05:06+00:00",
}

RUN = {
    "version": 1,
    "files": [{"service": "gemini", "name": "files/citekit-1", "owner": "someone", "until": 4102444800.0}],
}


def test_the_record_of_evidence_in_index_version_1_is_read_and_written_the_same() -> None:
    record = EvidenceRecord(
        digest=Digest.of_bytes(b"x"),
        state=FileState(1, 2, 3, 4, 5),
        since=10.5,
        seen=11.5,
        boot="a run",
        extraction=Extraction(suffix=".pdf", media_type="application/pdf", extent=Pages((1, 2)), notes=("A note.",)),
        created=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    )

    assert "index-1" == INDEX
    assert record == EvidenceRecord.from_plain(record.digest, RECORD)
    assert RECORD == json.loads(json.dumps(record.to_plain()))


def test_the_notes_of_a_run_have_this_form_and_those_of_another_version_are_left_alone(tmp_path: Path) -> None:
    leftover = OrphanedUpload("gemini", "files/citekit-1", "someone", 4102444800.0)
    with OrphanedUploads(tmp_path).run() as run:
        run.remember(leftover)
    (note,) = tmp_path.glob("*.json")
    plain = json.loads(note.read_text())
    codes = [each.pop("code") for each in plain["files"]]
    for number in (1, 3):
        (tmp_path / f"version{number}.json").write_text(json.dumps({**RUN, "version": number}))

    assert [leftover] == list(OrphanedUploads(tmp_path).pending())
    assert {**RUN, "version": 2} == plain
    assert [32] == [len(each) for each in codes]
    assert (tmp_path / "version1.json").exists()
    assert (tmp_path / "version3.json").exists()
