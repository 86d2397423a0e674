"""Tell whether a piece of evidence really is that part of that source."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from attrs import field, frozen

from citekit.application.resolve import Resolve
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    Cancelled,
    CiteKitError,
    FormUnsupported,
    LocationMalformed,
    LocationOutside,
    MapCorrupt,
    ReceiptMissing,
    ResourceIdRefused,
    ResourceMissing,
    SourceUnreadable,
)
from citekit.domain.evidence import EvidenceKey, Extraction, Receipt
from citekit.domain.ports.outputs import Outputs
from citekit.domain.ports.sources import Sources


class Ruling(StrEnum):
    """What is the matter with evidence, in one word. All but the first, and those that leave it open, refute it."""

    GENUINE = "genuine"
    """Cutting that part again gives the same bytes, and all that the receipt says of them."""

    RECEIPT_EDITED = "receipt-edited"
    """The receipt contradicts itself, or says of the evidence or the source what is not so."""

    OTHER_RECEIPT = "other-receipt"
    """The receipt is that of another file: this file is other evidence, which a receipt here speaks of."""

    CACHE_EDITED = "cache-edited"
    """The object in the cache is not what was stored: `citekit cache verify` drops it, resolving re-creates it."""

    EVIDENCE_EDITED = "evidence-edited"
    """The bytes of the file are not those that the receipt speaks of."""

    OTHER_CONTENT = "other-content"
    """The source is there, and that part of it is something else, or it has no such part."""

    OTHER_SOURCE = "other-source"
    """This home has a map of the receipt's resource, and neither it nor an earlier one is of the receipt's source."""

    SOURCE_CHANGED = "source-changed"
    """There is a file where the source was, and its bytes differ: verification is not possible."""

    SOURCE_MISSING = "source-missing"
    """There is no file where the source was: verification is not possible."""

    OTHER_EXTRACTOR = "other-extractor"
    """It was cut by an extractor, or a version of it, that is not installed here: verification is not possible."""

    NOT_CUT = "not-cut"
    """The part could not be cut again here now, for lack of a library or the password: verification is not possible."""

    MAP_UNREADABLE = "map-unreadable"
    """This home's map of the receipt's resource cannot be read, so nobody can tell whether it is of that source."""

    FILE_CHANGED = "file-changed"
    """The file changed while it was checked. Check it again."""

    RECEIPT_ONLY = "receipt-only"
    """The receipt holds, but no file was checked against it."""

    @property
    def refutes(self) -> bool:
        """Whether evidence of which this is said is not what its receipt says."""
        return self is not Ruling.GENUINE and self not in _OPEN


_NO_SUCH_PART = (LocationOutside, LocationMalformed, FormUnsupported)
"""Errors that follow from the bytes of the source and the receipt alone; any other may be of this machine, or of now."""

_OPEN = (
    Ruling.SOURCE_CHANGED,
    Ruling.SOURCE_MISSING,
    Ruling.OTHER_EXTRACTOR,
    Ruling.NOT_CUT,
    Ruling.MAP_UNREADABLE,
    Ruling.FILE_CHANGED,
    Ruling.RECEIPT_ONLY,
)


@frozen
class Check:
    """One check: `passed` is None if it could not be decided; `ruling` says what that means."""

    name: str
    passed: bool | None
    detail: str
    ruling: Ruling = Ruling.GENUINE


@frozen
class Verdict:
    """Whether evidence is genuine, and why.

    `genuine` only if a file was checked, nothing failed, and cutting the part again gave the bytes of that file.
    """

    receipt: Receipt
    checks: Sequence[Check] = field(converter=tuple[Check, ...])

    UNPROVEN: ClassVar[Sequence[str]] = ("resource_id", "source_path", "created", "owner")
    """Fields of a receipt that nothing can prove: names, when it was made, and for whom.

    A `resource_id` that this home has a map of is compared with that map; elsewhere it is only a name.
    """

    @property
    def genuine(self) -> bool:
        """True where every check passed."""
        return all(check.passed is True for check in self.checks)

    @property
    def refuted(self) -> bool:
        """True where a check failed, as opposed to could not be made."""
        return any(check.passed is False for check in self.checks)

    @property
    def ruling(self) -> Ruling:
        """The one that says most: of those that refute, else of those that leave it open, the first."""
        return self.rulings[0]

    @property
    def rulings(self) -> Sequence[Ruling]:
        """All that is the matter, what says most first; `genuine` alone where nothing is."""
        order = list(Ruling)
        found = {check.ruling for check in self.checks if check.passed is not True}
        return tuple(sorted(found, key=order.index)) or (Ruling.GENUINE,)


@frozen
class VerifyEvidence:
    """Holds evidence against its receipt, and the receipt against the source."""

    sources: Sources
    outputs: Outputs
    resolve: Resolve

    def knows(self, path: Path) -> bool:
        """Whether the file at `path` is evidence of this home, by its name in the output folder or by its bytes.

        Such a file is evidence whatever it looks like, even if it reads as a receipt.
        """
        if self._by_name(path) is not None:
            return True
        digest = self.sources.digest_uncached(path)
        if digest is None:
            return False
        return self.outputs.receipt_of(digest) is not None or self.resolve.evidence.is_intact(digest) is not None

    def file(
        self,
        path: Path,
        roots: Sequence[Path] = (),
        *,
        receipt: Receipt | None = None,
        address: str | None = None,
    ) -> Verdict:
        """The verdict on a file: with the `receipt` that is said to be its own, else with the one that is kept here.

        `address` is what the receipt says its address is. Raises `ReceiptMissing` where no receipt speaks of the file,
        `SourceUnreadable`.
        """
        digest = self.sources.digest_uncached(path)
        if digest is None:
            raise SourceUnreadable(f"There is no readable file at {path}.")
        known = receipt or self._by_name(path) or self.outputs.receipt_of(digest)
        if known is None:
            raise ReceiptMissing(f"No receipt speaks of {path}: give the receipt itself, or resolve the part again.")
        return self._verdict(known, _Shown(path, digest), roots, address)

    def receipt(self, receipt: Receipt, roots: Sequence[Path] = (), *, address: str | None = None) -> Verdict:
        """The verdict on a receipt alone: `RECEIPT_ONLY` at best. `address` is what it says its address is."""
        return self._verdict(receipt, None, roots, address)

    def _by_name(self, path: Path) -> Receipt | None:
        """The receipt stored for that file in the output folder; a link has the name of the file that it leads to."""
        return self.outputs.receipt(path) or self.outputs.receipt(_real(path))

    def _verdict(self, receipt: Receipt, shown: _Shown | None, roots: Sequence[Path], address: str | None) -> Verdict:
        checks = [_consistent(receipt, address)]
        if shown is not None:
            checks.append(self._shown(receipt, shown))
        if self.resolve.evidence.is_intact(receipt.evidence_digest) is False:
            checks.append(Check("cache", False, _IN_CACHE, Ruling.CACHE_EDITED))
        source = self._source(receipt, roots)
        if source is None:
            checks.append(self._gone(receipt))
        else:
            checks.append(_sized(receipt, source))
            checks.append(self._remade(receipt, source, shown))
        checks.extend(self._resource(receipt))
        if shown is None:
            checks.append(Check("evidence", None, _NO_FILE, Ruling.RECEIPT_ONLY))
        elif self.sources.digest_uncached(shown.path) != shown.digest:
            checks.append(Check("evidence", None, "the file changed while it was checked", Ruling.FILE_CHANGED))
        return Verdict(receipt, checks)

    def _resource(self, receipt: Receipt) -> Iterator[Check]:
        """Whether this home's map of the receipt's resource is of the receipt's source; nothing if there is no such map."""
        maps, name = self.resolve.maps, receipt.resource_id
        try:
            mapped = maps.card(name).source_hash
            earlier = maps.earlier_sources(name)
        except (ResourceMissing, ResourceIdRefused):
            return
        except MapCorrupt as error:
            yield Check("resource", None, str(error), Ruling.MAP_UNREADABLE)
            return
        if mapped is None:
            return  # a map of another program that names no bytes
        if mapped == receipt.source_digest.hex:
            yield Check("resource", True, f"the map of '{name}' here is of that source")
        elif receipt.source_digest in earlier:
            yield Check("resource", True, f"an earlier map of '{name}' here was of that source")
        else:
            detail = f"'{name}' is the id of another file here: its map is of the digest {mapped}"
            yield Check("resource", False, detail, Ruling.OTHER_SOURCE)

    def _shown(self, receipt: Receipt, shown: _Shown) -> Check:
        if shown.digest == receipt.evidence_digest:
            return Check("evidence", True, "the bytes are those of the receipt")
        other = self.outputs.receipt_of(shown.digest)
        if other is not None and other.key != receipt.key:
            return Check("evidence", False, f"the file is other evidence: {other.address}", Ruling.OTHER_RECEIPT)
        return Check("evidence", False, "the bytes are not those of the receipt", Ruling.EVIDENCE_EDITED)

    def _source(self, receipt: Receipt, roots: Sequence[Path]) -> Path | None:
        path = Path(receipt.source_path)
        if self.sources.digest_uncached(path) == receipt.source_digest:
            return path
        return self.sources.find(receipt.source_digest, receipt.source_size, path.name, roots) if roots else None

    def _gone(self, receipt: Receipt) -> Check:
        path = Path(receipt.source_path)
        if self.sources.exists(path):
            detail = f"the file at {path} has other bytes than those of the receipt"
            return Check("source", None, detail, Ruling.SOURCE_CHANGED)
        return Check("source", None, f"there is no file at {path}", Ruling.SOURCE_MISSING)

    def _remade(self, receipt: Receipt, path: Path, shown: _Shown | None) -> Check:
        with tempfile.TemporaryDirectory(prefix="citekit-verify-") as folder:
            target = Path(folder) / "again"
            try:
                made = self.resolve.again(receipt, self.sources.identify(path), target)
                if self.sources.digest_uncached(path) != receipt.source_digest:
                    detail = f"{path} changed while it was read"
                    return Check("content", None, detail, Ruling.SOURCE_CHANGED)
            except Cancelled:
                raise
            except _NO_SUCH_PART as error:
                return Check("content", False, str(error), Ruling.OTHER_CONTENT)
            except CiteKitError as error:
                return Check("content", None, str(error), Ruling.NOT_CUT)
            if made is None:
                version = f"{receipt.extractor.name} {receipt.extractor.version}"
                detail = f"it was cut by {version}, which is not installed here"
                return Check("content", None, detail, Ruling.OTHER_EXTRACTOR)
            return _held(receipt, made, target.stat().st_size, self.sources.digest_uncached(target), shown)


_NO_FILE = "no file was checked against it: give the file, and the receipt with --receipt"
_IN_CACHE = "the object in the cache was changed: clean up with 'citekit cache verify', and resolve the part again"


@frozen
class _Shown:
    """The file that is said to be evidence, and the digest of its bytes."""

    path: Path
    digest: Digest


def _real(path: Path) -> Path:
    """The path with all links followed; the path itself if they lead nowhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _held(receipt: Receipt, made: Extraction, size: int, digest: Digest | None, shown: _Shown | None) -> Check:
    """What the receipt says, held against the part that was cut again: its bytes have that size and digest."""
    if digest != receipt.evidence_digest:
        if shown is not None and shown.digest == digest:
            detail = "the file is that part, but the receipt speaks of other bytes"
            return Check("content", False, detail, Ruling.RECEIPT_EDITED)
        return Check("content", False, "cutting that part again gives other bytes", Ruling.OTHER_CONTENT)
    wrong = _misstated(receipt, made, size)
    if wrong:
        detail = f"the bytes are right, but the receipt misstates {', '.join(wrong)}"
        return Check("content", False, detail, Ruling.RECEIPT_EDITED)
    return Check("content", True, "cutting that part again gives the same bytes, and all that the receipt says of them")


def _sized(receipt: Receipt, source: Path) -> Check:
    if source.stat().st_size == receipt.source_size:
        return Check("source", True, f"{source} is the file of the receipt")
    detail = f"{source} is the file of the receipt, which misstates its size"
    return Check("source", False, detail, Ruling.RECEIPT_EDITED)


def _misstated(receipt: Receipt, made: Extraction, size: int) -> list[str]:
    """What the receipt says of the evidence that is not so."""
    said = (receipt.extent, receipt.media_type, receipt.bytes_from, receipt.notes, receipt.evidence_size)
    true = (made.extent, made.media_type, made.bytes_from, made.notes, size)
    names = ("its extent", "its media type", "where its bytes begin", "its notes", "its size")
    return [name for name, one, other in zip(names, said, true, strict=True) if one != other]


def _consistent(receipt: Receipt, address: str | None) -> Check:
    if address is not None and address != str(receipt.address):
        detail = f"its address {address} is not that of its location, {receipt.address}"
        return Check("receipt", False, detail, Ruling.RECEIPT_EDITED)
    if EvidenceKey.of(receipt.source_digest, receipt.location, receipt.extractor, receipt.options) != receipt.key:
        return Check("receipt", False, "its key does not follow from its contents", Ruling.RECEIPT_EDITED)
    return Check("receipt", True, "its key follows from its contents")
