"""Everything that can be the matter with evidence has a name of its own, for every kind of file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve

from citekit.application.verify import Ruling, Verdict
from citekit.container import Container, bootstrap
from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, DriverMissing, ExtractionFailed, SourceUnreadable
from citekit.domain.evidence import Evidence, EvidenceKey, Extraction, ExtractorIdentity, Receipt
from citekit.domain.locations import Box, Lines, Location, Pages, TimeSpan
from citekit.settings import Settings
from citekit.wire import receipts
from tests.contracts import small_files

PLACES: dict[str, tuple[Location, Location]] = {
    "pdf": (Pages((1,)), Pages((1,), Box(0, 0, 1, 0.5))),
    "text": (Lines(1, 2), Lines(3, 5)),
    "png": (Box(0, 0, 0.5, 0.5), Box(0, 0, 1, 0.5)),
    "wav": (TimeSpan(0, 0.03), TimeSpan(0.05, 0.1)),
    "mp4": (TimeSpan(0, 0.25), TimeSpan(0.25, 0.5)),
}
"""Of each kind of file, two parts."""


@define
class Cut:
    """A part that was cut out of a file of its own, and another part of the same file."""

    app: Container
    source: Path
    evidence: Evidence
    other: Evidence

    @property
    def path(self) -> Path:
        assert self.evidence.output_path is not None
        return self.evidence.output_path

    @property
    def receipt(self) -> Receipt:
        assert self.evidence.receipt is not None
        return self.evidence.receipt

    def edited(self, **changes: Any) -> Verdict:
        """The verdict on the receipt with fields of its written form changed."""
        receipt, address = receipts.claimed({**receipts.to_plain(self.receipt), **changes}, "receipt")
        return self.app.verify.receipt(receipt, address=address)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A home with a small file of that format, mapped and cut; it is copied for each test."""

    @cache
    def make(name: str) -> Path:
        folder = tmp_path_factory.mktemp("made")
        small_files.make(name, folder)
        return folder

    return make


@pytest.fixture(params=PLACES)
def cut(request: pytest.FixtureRequest, made: Callable[[str], Path], tmp_path: Path) -> Cut:
    name = request.param
    (file,) = made(name).iterdir()
    source = Path(shutil.copy(file, tmp_path))
    app = bootstrap(Settings(home=tmp_path / "home", parsers="inline"))
    resource = app.ingest(source).resource_map
    places = PLACES[name]
    if name == "wav":
        places = tuple(evolve(place, modality=resource.modality) for place in places)  # type: ignore[arg-type,assignment]
    first, second = (app.resolve(Address(resource.resource_id, place)) for place in places)
    return Cut(app, source, first, second)


def replace(path: Path, data: bytes) -> None:
    """Another file in the place of one that may be a link to a stored object."""
    path.unlink()
    path.write_bytes(data)


def test_what_is_as_it_was_is_genuine(cut: Cut) -> None:
    verdicts = [cut.app.verify.file(cut.path), cut.app.verify.file(cut.path, receipt=cut.receipt)]

    assert [(Ruling.GENUINE, True, (Ruling.GENUINE,))] * 2 == [(v.ruling, v.genuine, v.rulings) for v in verdicts]


def test_a_receipt_alone_is_neither_genuine_nor_refuted(cut: Cut) -> None:
    verdict = cut.app.verify.receipt(cut.receipt)

    assert (False, False, (Ruling.RECEIPT_ONLY,)) == (verdict.genuine, verdict.refuted, verdict.rulings)


def test_a_tampered_file_is_edited_evidence(cut: Cut) -> None:
    replace(cut.path, cut.path.read_bytes()[:-1] + b"!")

    verdict = cut.app.verify.file(cut.path)

    assert (Ruling.EVIDENCE_EDITED, True) == (verdict.ruling, verdict.refuted)


def test_another_evidence_in_its_place_is_told_from_edited_evidence(cut: Cut) -> None:
    assert cut.other.output_path is not None
    replace(cut.path, cut.other.output_path.read_bytes())

    verdict = cut.app.verify.file(cut.path)

    assert Ruling.OTHER_RECEIPT == verdict.ruling
    assert str(cut.other.address) in next(each.detail for each in verdict.checks if each.name == "evidence")


def test_a_receipt_of_another_file_is_told(cut: Cut) -> None:
    assert cut.other.receipt is not None

    verdict = cut.app.verify.file(cut.path, receipt=cut.other.receipt)

    assert (Ruling.OTHER_RECEIPT, True) == (verdict.ruling, verdict.refuted)


@pytest.mark.long
def test_an_object_that_was_changed_in_the_cache_is_told(cut: Cut) -> None:
    path = cut.app.settings.cache_folder / "evidence" / "objects"
    path = path.joinpath(*cut.receipt.evidence_digest.fan_out)
    times = path.stat()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(b"!!!")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    linked, alone = cut.app.verify.file(cut.path), cut.app.verify.receipt(cut.receipt)

    assert (Ruling.CACHE_EDITED, Ruling.EVIDENCE_EDITED) == linked.rulings
    assert (Ruling.CACHE_EDITED, Ruling.RECEIPT_ONLY) == alone.rulings
    assert 1 == len(cut.app.evidence.verify().healed)
    assert Ruling.RECEIPT_ONLY == cut.app.verify.receipt(cut.receipt).ruling


def test_a_source_of_another_size_is_not_read(cut: Cut) -> None:
    os.truncate(cut.source, 900_000_000_000)  # sparse; reading it takes the better part of an hour

    assert cut.app.verify.receipt(cut.receipt).ruling == Ruling.SOURCE_CHANGED


def test_a_changed_source_is_told_from_a_missing_one(cut: Cut) -> None:
    cut.source.write_bytes(cut.source.read_bytes() + b"\n")
    changed = cut.app.verify.receipt(cut.receipt)
    cut.source.unlink()
    missing = cut.app.verify.receipt(cut.receipt)

    assert [Ruling.SOURCE_CHANGED, Ruling.SOURCE_MISSING] == [changed.ruling, missing.ruling]
    assert not any(verdict.genuine or verdict.refuted for verdict in (changed, missing))


def _edits(cut: Cut) -> Mapping[str, Mapping[str, Any]]:
    assert cut.other.receipt is not None
    mine, other = receipts.to_plain(cut.receipt), receipts.to_plain(cut.other.receipt)
    nobody = Digest.of_bytes(b"nobody").hex
    return {
        "address": {"address": other["address"]},
        "location": {"location": other["location"], "address": other["address"]},
        "location alone": {"location": other["location"]},
        "key": {"key": nobody},
        "source digest": {"source_digest": nobody},
        "source size": {"source_size": 1},
        "extractor version": {"extractor": {**mine["extractor"], "version": "0"}},
        "options": {"options": {**mine["options"], "accurate": True}},
        "notes": {"notes": ["Signed by a notary."]},
        "extent": {"extent": other["extent"]},
        "media type": {"media_type": "text/x-other"},
        "evidence size": {"evidence_size": 1},
    }


def test_every_edit_of_a_receipt_is_told(cut: Cut) -> None:
    found = {name: cut.edited(**changes).ruling for name, changes in _edits(cut).items()}

    assert dict.fromkeys(_edits(cut), Ruling.RECEIPT_EDITED) == found


def test_an_edited_digest_of_the_evidence_is_told_by_the_file(cut: Cut) -> None:
    forged = evolve(cut.receipt, evidence_digest=Digest.of_bytes(b"nobody"))

    with_file, alone = cut.app.verify.file(cut.path, receipt=forged), cut.app.verify.receipt(forged)

    assert Ruling.RECEIPT_EDITED in with_file.rulings
    assert Ruling.OTHER_CONTENT == alone.ruling


def _with_its_key(receipt: Receipt) -> Receipt:
    key = EvidenceKey.of(receipt.source_digest, receipt.location, receipt.extractor, receipt.options)
    return evolve(receipt, key=key)


def test_a_forged_receipt_that_agrees_with_itself_is_refuted_by_the_source(cut: Cut) -> None:
    assert cut.other.receipt is not None
    forged = _with_its_key(evolve(cut.receipt, location=cut.other.receipt.location))

    verdict = cut.app.verify.receipt(forged)

    assert (Ruling.OTHER_CONTENT, True) == (verdict.ruling, verdict.refuted)


def test_an_extractor_of_another_version_leaves_it_open(cut: Cut) -> None:
    name = cut.receipt.extractor.name
    older = _with_its_key(evolve(cut.receipt, extractor=ExtractorIdentity(name, "0")))

    verdict = cut.app.verify.receipt(older)

    assert (Ruling.OTHER_EXTRACTOR, False, False) == (verdict.ruling, verdict.genuine, verdict.refuted)


@define
class Failing:
    """An extractor that fails for a reason which is not in the file."""

    inner: Any
    error: CiteKitError

    @property
    def identity(self) -> ExtractorIdentity:
        found: ExtractorIdentity = self.inner.identity
        return found

    def forms(self, *arguments: Any) -> Any:
        return self.inner.forms(*arguments)

    def extract(self, *_: Any, **__: Any) -> Extraction:
        raise self.error


@pytest.mark.long
@pytest.mark.parametrize(
    "error",
    [DriverMissing("This", "extra"), ExtractionFailed("It took too long."), SourceUnreadable("It may not be read.")],
    ids=lambda error: type(error).__name__,
)
def test_a_part_that_cannot_be_cut_here_leaves_it_open(cut: Cut, error: CiteKitError) -> None:
    app = bootstrap(cut.app.settings, extractors=[Failing(each, error) for each in cut.app.extractors])

    verdict = app.verify.receipt(cut.receipt)

    assert (Ruling.NOT_CUT, False, False) == (verdict.ruling, verdict.genuine, verdict.refuted)


def test_what_refutes_goes_before_what_leaves_it_open(cut: Cut) -> None:
    replace(cut.path, b"forged")
    cut.source.unlink()

    verdict = cut.app.verify.file(cut.path)

    assert (Ruling.EVIDENCE_EDITED, Ruling.SOURCE_MISSING) == verdict.rulings


def test_only_the_first_ruling_is_genuine_and_the_open_ones_refute_nothing() -> None:
    assert [
        "receipt-edited", "other-receipt", "cache-edited", "evidence-edited", "other-content", "other-source",
    ] == [ruling.value for ruling in Ruling if ruling.refutes]  # fmt: skip


def test_a_receipt_with_the_id_of_another_file_here_is_refuted(cut: Cut, tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.txt"
    trusted.write_text("Another file.\n")
    cut.app.ingest(trusted, wanted_id="trusted")
    claim, unknown = (evolve(cut.receipt, resource_id=name) for name in ("trusted", "nobody-here"))

    verdict = cut.app.verify.file(cut.path, receipt=claim)

    assert (True, Ruling.OTHER_SOURCE) == (verdict.refuted, verdict.ruling)
    assert "'trusted'" in next(each.detail for each in verdict.checks if each.name == "resource")
    assert cut.app.verify.file(cut.path, receipt=unknown).genuine


def test_a_receipt_of_an_earlier_state_of_a_source_stays_genuine(cut: Cut, tmp_path: Path) -> None:
    older = tmp_path / "older" / cut.source.name
    older.parent.mkdir()
    shutil.copy(cut.source, older)
    newer = tmp_path / "newer.txt"
    newer.write_text("The second edition.\n")
    cut.app.maps.put(evolve(cut.app.ingest(newer).resource_map, resource_id=cut.receipt.resource_id))
    cut.source.unlink()
    shutil.rmtree(cut.app.settings.output_folder / ".receipts" / ".by_content")
    kept = Path(shutil.copy(cut.path, tmp_path / "kept"))

    verdict = cut.app.verify.file(kept, [older.parent], receipt=cut.receipt)

    assert verdict.genuine
    assert "earlier" in next(each.detail for each in verdict.checks if each.name == "resource")


def test_a_damaged_map_leaves_it_open(cut: Cut) -> None:
    (cut.app.settings.maps_folder / f"{cut.receipt.resource_id}.json").write_text("{")

    verdict = bootstrap(cut.app.settings).verify.file(cut.path, receipt=cut.receipt)

    assert (Ruling.MAP_UNREADABLE, False, False) == (verdict.ruling, verdict.genuine, verdict.refuted)


class ChangesWhileCut:
    """An extractor during whose work somebody changes a file."""

    def __init__(self, inner: Any, change: Callable[[], object]) -> None:
        self.inner, self.change, self.identity, self.forms = inner, change, inner.identity, inner.forms

    def extract(self, *arguments: Any, **named: Any) -> Extraction:
        made: Extraction = self.inner.extract(*arguments, **named)
        self.change()
        return made


def test_a_file_that_changes_while_it_is_checked_is_not_genuine(cut: Cut) -> None:
    def change() -> None:
        replace(cut.path, b"forged")

    extractors = [ChangesWhileCut(each, change) for each in cut.app.extractors]

    verdict = bootstrap(cut.app.settings, extractors=extractors).verify.file(cut.path)

    assert (Ruling.FILE_CHANGED, False) == (verdict.ruling, verdict.genuine)


def test_a_source_that_changes_while_it_is_cut_proves_nothing(cut: Cut) -> None:
    def change() -> None:
        cut.source.write_bytes(b"another")

    extractors = [ChangesWhileCut(each, change) for each in cut.app.extractors]

    verdict = bootstrap(cut.app.settings, extractors=extractors).verify.file(cut.path)

    assert (Ruling.SOURCE_CHANGED, False) == (verdict.ruling, verdict.genuine)
