"""Receipts: the stored form is stable and complete."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, ExtractorIdentity, Options, Receipt
from citekit.domain.locations import Location
from citekit.wire import receipts
from tests.strategies import extractor_identities, locations, options, resource_ids

SAMPLE = Path(__file__).parent / "samples" / "receipt_v1.json"


@given(resource_ids(), locations(), locations(), extractor_identities(), options(), st.none() | st.floats(0, 1e6))
def test_a_receipt_is_read_back_equal(
    resource: str,
    location: Location,
    extent: Location,
    extractor: ExtractorIdentity,
    chosen: Options,
    bytes_from: float | None,
) -> None:
    source = Digest.of_bytes(b"source")
    receipt = Receipt(
        key=EvidenceKey.of(source, location, extractor, chosen),
        source_digest=source,
        source_path="/a/b",
        source_size=6,
        resource_id=resource,
        location=location,
        extractor=extractor,
        options=chosen,
        evidence_digest=Digest.of_bytes(b"evidence"),
        evidence_size=8,
        media_type="text/plain",
        extent=extent,
        bytes_from=bytes_from,
        notes=("one", "two"),
        created=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    )

    plain = json.loads(json.dumps(receipts.to_plain(receipt)))

    assert receipt == receipts.from_plain(plain, "receipt")


def test_the_frozen_sample_of_version_1_is_still_written_the_same() -> None:
    plain = json.loads(SAMPLE.read_text("utf-8"))

    assert plain == receipts.to_plain(receipts.from_plain(plain, "sample"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"receipt_version": 2}, "receipt_version: must be 1, not 2"),
        ({"source_digest": "xyz"}, "source_digest"),
        ({"location": {"modality": "document", "pages": [0]}}, "location"),
        ({"created": 5}, "created: must be a time in ISO 8601, not 5"),
        ({"options": {"form": "cake", "accurate": False}}, "options.form"),
    ],
)
def test_a_wrong_receipt_is_refused_with_its_path_and_reason(change: dict[str, object], reason: str) -> None:
    plain = {**json.loads(SAMPLE.read_text("utf-8")), **change}

    with pytest.raises(FaultyAnswer) as refusal:
        receipts.from_plain(plain, "receipt.json")

    assert reason in str(refusal.value)
