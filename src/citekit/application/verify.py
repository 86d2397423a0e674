"""Verifies that evidence is exactly the claimed part of its source."""

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
    """The reason for a verdict. Some rulings refute evidence, others leave the question open (see `refutes`)."""

    GENUINE = "genuine"
    """Repeating the extraction gives the same bytes and everything that the receipt states about them."""

    RECEIPT_EDITED = "receipt-edited"
    """The receipt contradicts itself, or states something false about the evidence or the source."""

    OTHER_RECEIPT = "other-receipt"
    """The receipt belongs to another file: this file is other evidence with its own receipt."""

    CACHE_EDITED = "cache-edited"
    """The cached object was modified: `citekit cache verify` deletes it, and resolving re-creates it."""

    EVIDENCE_EDITED = "evidence-edited"
    """The bytes of the file differ from those in the receipt."""

    OTHER_CONTENT = "other-content"
    """The source exists, but that part of it has other content, or does not exist."""

    OTHER_SOURCE = "other-source"
    """This home has a map of the receipt's resource, but neither it nor an earlier map is of the receipt's source."""

    SOURCE_CHANGED = "source-changed"
    """The file at the source's path has other bytes, so verification is not possible."""

    SOURCE_MISSING = "source-missing"
    """There is no file at the source's path, so verification is not possible."""

    OTHER_EXTRACTOR = "other-extractor"
    """The extractor version that made the evidence is not installed, so verification is not possible."""

    NOT_CUT = "not-cut"
    """The extraction cannot be repeated here, such as without a library or password: verification is not possible."""

    MAP_UNREADABLE = "map-unreadable"
    """This home's map of the receipt's resource is unreadable, so its source is unknown."""

    FILE_CHANGED = "file-changed"
    """The file changed during the check. Check it again."""

    RECEIPT_ONLY = "receipt-only"
    """The receipt is valid, but no file was checked against it."""

    @property
    def refutes(self) -> bool:
        """Whether this ruling proves that the evidence is not what its receipt says."""
        return self is not Ruling.GENUINE and self not in _OPEN


_NO_SUCH_PART = (LocationOutside, LocationMalformed, FormUnsupported)
"""Errors that depend only on the bytes of the source and on the receipt, not on this computer."""

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
    """The result of one check. `passed` is None if the check could not be made; `ruling` is its reason."""

    name: str
    passed: bool | None
    detail: str
    ruling: Ruling = Ruling.GENUINE


@frozen
class Verdict:
    """Whether evidence is genuine, and why.

    It is `genuine` only if a file was checked, no check failed, and repeating the extraction gave the bytes of that
    file.
    """

    receipt: Receipt
    checks: Sequence[Check] = field(converter=tuple[Check, ...])

    UNPROVEN: ClassVar[Sequence[str]] = ("resource_id", "source_path", "created", "owner")
    """Fields of a receipt that cannot be proven: names, the time, and the owner.

    If this home has a map with the `resource_id`, it is compared with that map; otherwise it is only a name.
    """

    @property
    def genuine(self) -> bool:
        """Whether every check passed."""
        return all(check.passed is True for check in self.checks)

    @property
    def refuted(self) -> bool:
        """Whether a check failed, as opposed to could not be made."""
        return any(check.passed is False for check in self.checks)

    @property
    def ruling(self) -> Ruling:
        """The most important ruling: refuting ones take precedence over open ones."""
        return self.rulings[0]

    @property
    def rulings(self) -> Sequence[Ruling]:
        """All rulings, the most important first; `GENUINE` alone if there is no problem."""
        order = list(Ruling)
        found = {check.ruling for check in self.checks if check.passed is not True}
        return tuple(sorted(found, key=order.index)) or (Ruling.GENUINE,)


@frozen
class VerifyEvidence:
    """Verifies evidence against its receipt, and the receipt against the source."""

    sources: Sources
    outputs: Outputs
    resolve: Resolve

    def knows(self, path: Path) -> bool:
        """Return whether `path` is evidence of this home, by its name in the output folder or by its bytes.

        Such a file is evidence even if its content is a valid receipt.
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
        """Return the verdict on a file, with the given `receipt`, else with the one stored in this home.

        `address` is the address that the receipt document states. Raise `ReceiptMissing` if there is no receipt for the
        file, and `SourceUnreadable`.
        """
        digest = self.sources.digest_uncached(path)
        if digest is None:
            raise SourceUnreadable(f"There is no readable file at {path}.")
        known = receipt or self._by_name(path) or self.outputs.receipt_of(digest)
        if known is None:
            raise ReceiptMissing(f"There is no receipt for {path}. Provide the receipt, or resolve the part again.")
        return self._verdict(known, _Shown(path, digest), roots, address)

    def receipt(self, receipt: Receipt, roots: Sequence[Path] = (), *, address: str | None = None) -> Verdict:
        """Return the verdict on a receipt alone: at best `RECEIPT_ONLY`. `address` is the address that its document
        states.
        """
        return self._verdict(receipt, None, roots, address)

    def _by_name(self, path: Path) -> Receipt | None:
        """Return the receipt stored for a file in the output folder. Links are resolved."""
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
        """Check that this home's map of the receipt's resource is of the same source. No check if there is no such map."""
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
            return  # a map from another program, without a digest
        if mapped == receipt.source_digest.hex:
            yield Check("resource", True, f"the map of '{name}' in this home is of that source")
        elif receipt.source_digest in earlier:
            yield Check("resource", True, f"an earlier map of '{name}' in this home was of that source")
        else:
            detail = f"in this home, '{name}' is the ID of another file, with the digest {mapped}"
            yield Check("resource", False, detail, Ruling.OTHER_SOURCE)

    def _shown(self, receipt: Receipt, shown: _Shown) -> Check:
        if shown.digest == receipt.evidence_digest:
            return Check("evidence", True, "the bytes match the receipt")
        other = self.outputs.receipt_of(shown.digest)
        if other is not None and other.key != receipt.key:
            return Check("evidence", False, f"the file is other evidence: {other.address}", Ruling.OTHER_RECEIPT)
        return Check("evidence", False, "the bytes do not match the receipt", Ruling.EVIDENCE_EDITED)

    def _source(self, receipt: Receipt, roots: Sequence[Path]) -> Path | None:
        path = Path(receipt.source_path)
        if self.sources.digest_uncached(path) == receipt.source_digest:
            return path
        return self.sources.find(receipt.source_digest, receipt.source_size, path.name, roots) if roots else None

    def _gone(self, receipt: Receipt) -> Check:
        path = Path(receipt.source_path)
        if self.sources.exists(path):
            detail = f"the file at {path} is not the one in the receipt"
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
                detail = f"it was made by {version}, which is not installed"
                return Check("content", None, detail, Ruling.OTHER_EXTRACTOR)
            return _held(receipt, made, target.stat().st_size, self.sources.digest_uncached(target), shown)


_NO_FILE = "no file was checked against the receipt: pass the file, and the receipt with --receipt"
_IN_CACHE = "the cached object was modified: run 'citekit cache verify', and resolve the part again"


@frozen
class _Shown:
    """The file to verify, and the digest of its bytes."""

    path: Path
    digest: Digest


def _real(path: Path) -> Path:
    """Return the path with all links resolved; the path itself if that fails."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _held(receipt: Receipt, made: Extraction, size: int, digest: Digest | None, shown: _Shown | None) -> Check:
    """Check the receipt against the repeated extraction, which has this size and digest."""
    if digest != receipt.evidence_digest:
        if shown is not None and shown.digest == digest:
            detail = "the file is that part of the source, but the receipt has another digest"
            return Check("content", False, detail, Ruling.RECEIPT_EDITED)
        return Check("content", False, "repeating the extraction produces different bytes", Ruling.OTHER_CONTENT)
    wrong = _misstated(receipt, made, size)
    if wrong:
        detail = f"the bytes are correct, but the receipt is wrong about {', '.join(wrong)}"
        return Check("content", False, detail, Ruling.RECEIPT_EDITED)
    return Check(
        "content", True, "repeating the extraction produces the same bytes, and the receipt describes them correctly"
    )


def _sized(receipt: Receipt, source: Path) -> Check:
    if source.stat().st_size == receipt.source_size:
        return Check("source", True, f"{source} is the file in the receipt")
    detail = f"{source} is the file in the receipt, but the receipt has the wrong size"
    return Check("source", False, detail, Ruling.RECEIPT_EDITED)


def _misstated(receipt: Receipt, made: Extraction, size: int) -> list[str]:
    """Return the receipt's false statements about the evidence."""
    said = (receipt.extent, receipt.media_type, receipt.bytes_from, receipt.notes, receipt.evidence_size)
    true = (made.extent, made.media_type, made.bytes_from, made.notes, size)
    names = ("its extent", "its media type", "where its bytes begin", "its notes", "its size")
    return [name for name, one, other in zip(names, said, true, strict=True) if one != other]


def _consistent(receipt: Receipt, address: str | None) -> Check:
    if address is not None and address != str(receipt.address):
        detail = f"its address {address} does not match its location, {receipt.address}"
        return Check("receipt", False, detail, Ruling.RECEIPT_EDITED)
    if EvidenceKey.of(receipt.source_digest, receipt.location, receipt.extractor, receipt.options) != receipt.key:
        return Check("receipt", False, "its key does not match its contents", Ruling.RECEIPT_EDITED)
    return Check("receipt", True, "its key matches its contents")
