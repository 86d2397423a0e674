"""Verifies that evidence contains exactly the part of the source that its receipt names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from shlex import quote
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
from citekit.domain.phrases import series
from citekit.domain.ports.outputs import Outputs
from citekit.domain.ports.sources import Sources

READ_ANYWAY = 2**30
"""The maximum size in bytes of a source that is read even if the receipt states a smaller size.

The path in an untrusted receipt may name a file that takes hours to read.
"""


class Ruling(StrEnum):
    """The reason for a verdict. Some rulings prove that evidence is not genuine; others say why it cannot be verified."""

    GENUINE = "genuine"
    """Repeating the extraction produces the same bytes, and the receipt describes them correctly."""

    RECEIPT_EDITED = "receipt-edited"
    """The receipt contradicts itself, or states something false about the evidence or the source."""

    OTHER_RECEIPT = "other-receipt"
    """The receipt belongs to another file: this file is other evidence with its own receipt."""

    CACHE_EDITED = "cache-edited"
    """The cached object was modified: `citekit cache verify` deletes it, and resolving re-creates it."""

    EVIDENCE_EDITED = "evidence-edited"
    """The bytes of the file differ from those in the receipt."""

    OTHER_CONTENT = "other-content"
    """The source exists, but the part that the receipt names has other content or does not exist."""

    OTHER_SOURCE = "other-source"
    """This home has maps with the receipt's resource ID, but none describes the receipt's source."""

    SOURCE_CHANGED = "source-changed"
    """The file at the source's path has other bytes or cannot be read."""

    SOURCE_MISSING = "source-missing"
    """There is no file at the source's path."""

    OTHER_EXTRACTOR = "other-extractor"
    """The extractor version that made the evidence is not available here."""

    NOT_CUT = "not-cut"
    """The extraction cannot be repeated here, for example because a library or password is missing."""

    MAP_UNREADABLE = "map-unreadable"
    """This home's map of the receipt's resource is unreadable."""

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
    """The result of one check.

    `passed` is None if the check could not be made. `detail` explains the result, and `ruling` classifies a check that
    did not pass.
    """

    name: str
    passed: bool | None
    detail: str
    ruling: Ruling = Ruling.GENUINE


@frozen
class Verdict:
    """The results of all checks of a piece of evidence or a receipt."""

    receipt: Receipt
    checks: Sequence[Check] = field(converter=tuple[Check, ...])

    UNPROVEN: ClassVar[Sequence[str]] = ("resource_id", "source_path", "created", "owner")
    """Fields of a receipt that cannot be proven.

    If this home has a map with the `resource_id`, the source in the receipt is compared with the source of that map.
    """

    @property
    def genuine(self) -> bool:
        """Whether every check passed, including that of a repeated extraction."""
        return all(check.passed is True for check in self.checks)

    @property
    def refuted(self) -> bool:
        """Whether at least one check failed. A check that could not be made does not count."""
        return any(check.passed is False for check in self.checks)

    @property
    def ruling(self) -> Ruling:
        """The most important ruling: one that refutes the evidence, if there is one."""
        return self.rulings[0]

    @property
    def rulings(self) -> Sequence[Ruling]:
        """The rulings of all checks that did not pass, most important first, or only `GENUINE` if every check passed."""
        order = list(Ruling)
        found = {check.ruling for check in self.checks if check.passed is not True}
        return tuple(sorted(found, key=order.index)) or (Ruling.GENUINE,)


@frozen
class VerifyEvidence:
    """Verifies evidence by comparing it with its receipt and by repeating the extraction from the source."""

    sources: Sources
    outputs: Outputs
    resolve: Resolve

    def knows(self, path: Path) -> bool:
        """Return whether the file at `path` is evidence that this home created, judging by its output path or its
        bytes.
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
        """Verify the evidence file at `path` and return the verdict.

        `receipt` is the receipt to check, by default the one stored in this home. `address` is the address in the
        receipt document, if any. The source is also searched for in `roots`. Raise `ReceiptMissing` if there is no
        receipt for the file, and `SourceUnreadable` if the file cannot be read.
        """
        digest = self.sources.digest_uncached(path)
        if digest is None:
            raise SourceUnreadable(f"There is no readable file at {path}.")
        known = receipt or self._by_name(path) or self.outputs.receipt_of(digest)
        if known is None:
            raise ReceiptMissing(
                f"There is no receipt for {path}. Provide the receipt (`--receipt FILE`, or `receipt` in Python), or "
                "resolve the part again."
            )
        return self._verdict(known, _Shown(path, digest), roots, address)

    def receipt(self, receipt: Receipt, roots: Sequence[Path] = (), *, address: str | None = None) -> Verdict:
        """Verify a receipt without its evidence file and return the verdict, whose best possible ruling is
        `RECEIPT_ONLY`.

        See `file` for the arguments.
        """
        return self._verdict(receipt, None, roots, address)

    def _in_cache(self) -> str:
        home = quote(str(self.resolve.locate.home.absolute()))
        return f"this home's cached copy was modified: run 'citekit cache verify --home {home}', and verify again"

    def _by_name(self, path: Path) -> Receipt | None:
        """Return the stored receipt of a file in the output folder, or None. Symbolic links in `path` are resolved."""
        return self.outputs.receipt(path) or self.outputs.receipt(_real(path))

    def _verdict(self, receipt: Receipt, shown: _Shown | None, roots: Sequence[Path], address: str | None) -> Verdict:
        checks = [_consistent(receipt, address)]
        if shown is not None:
            checks.append(self._shown(receipt, shown))
        if self.resolve.evidence.is_intact(receipt.evidence_digest) is False:
            checks.append(Check("cache", False, self._in_cache(), Ruling.CACHE_EDITED))
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
            checks.append(Check("evidence", None, "the file changed while it was being checked", Ruling.FILE_CHANGED))
        return Verdict(receipt, checks)

    def _resource(self, receipt: Receipt) -> Iterator[Check]:
        """Check whether this home's map with the receipt's resource ID, if any, describes the same source, and yield
        the result.
        """
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
            yield Check("resource", True, f"the map of '{name}' in this home was made from the same source")
        elif receipt.source_digest in earlier:
            yield Check("resource", True, f"an earlier map of '{name}' in this home was made from the same source")
        else:
            detail = f"the map of '{name}' in this home was made from other bytes, with the digest {mapped}"
            yield Check("resource", False, detail, Ruling.OTHER_SOURCE)

    def _shown(self, receipt: Receipt, shown: _Shown) -> Check:
        if shown.digest == receipt.evidence_digest:
            return Check("evidence", True, "the bytes match the receipt")
        other = self.outputs.receipt_of(shown.digest)
        if other is not None and other.key != receipt.key:
            return Check("evidence", False, f"the file is different evidence: {other.address}", Ruling.OTHER_RECEIPT)
        return Check("evidence", False, "the bytes do not match the receipt", Ruling.EVIDENCE_EDITED)

    def _source(self, receipt: Receipt, roots: Sequence[Path]) -> Path | None:
        path = Path(receipt.source_path)
        if self.sources.digest_uncached(path, max(receipt.source_size, READ_ANYWAY)) == receipt.source_digest:
            return path
        return self.sources.find(receipt.source_digest, receipt.source_size, path.name, roots) if roots else None

    def _gone(self, receipt: Receipt) -> Check:
        path = Path(receipt.source_path)
        if self.sources.exists(path):
            detail = f"the file at {path} is not the one in the receipt, or cannot be read"
            return Check("source", None, detail, Ruling.SOURCE_CHANGED)
        return Check("source", None, f"there is no file at {path}", Ruling.SOURCE_MISSING)

    def _remade(self, receipt: Receipt, path: Path, shown: _Shown | None) -> Check:
        with tempfile.TemporaryDirectory(prefix="citekit-verify-") as folder:
            target = Path(folder) / "again"
            try:
                made = self.resolve.again(receipt, self.sources.identify(path), target)
                if self.sources.digest_uncached(path, max(receipt.source_size, READ_ANYWAY)) != receipt.source_digest:
                    detail = f"{path} changed while it was being read"
                    return Check("content", None, detail, Ruling.SOURCE_CHANGED)
            except Cancelled:
                raise
            except _NO_SUCH_PART as error:
                return Check("content", False, str(error), Ruling.OTHER_CONTENT)
            except CiteKitError as error:
                return Check("content", None, str(error), Ruling.NOT_CUT)
            if made is None:
                version = f"{receipt.extractor.name} {receipt.extractor.version}"
                detail = f"the evidence was made by {version}, which is not available here"
                return Check("content", None, detail, Ruling.OTHER_EXTRACTOR)
            return _held(receipt, made, target.stat().st_size, self.sources.digest_uncached(target), shown)


_NO_FILE = "no file was checked against the receipt"


@frozen
class _Shown:
    """The evidence file to verify, and the digest of its bytes."""

    path: Path
    digest: Digest


def _real(path: Path) -> Path:
    """Return `path` with all symbolic links resolved, or `path` unchanged if resolving fails."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _held(receipt: Receipt, made: Extraction, size: int, digest: Digest | None, shown: _Shown | None) -> Check:
    """Compare the receipt with the repeated extraction (`made`, `size`, and `digest`) and the file, if any."""
    if digest != receipt.evidence_digest:
        if shown is not None and shown.digest == digest:
            detail = "the file matches the part of the source, but the receipt has another digest"
            return Check("content", False, detail, Ruling.RECEIPT_EDITED)
        return Check("content", False, "repeating the extraction produces different bytes", Ruling.OTHER_CONTENT)
    wrong = _misstated(receipt, made, size)
    if wrong:
        detail = f"the bytes are correct, but the receipt is wrong about {series(wrong)}"
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
    """Return the properties, such as "its size", in which the receipt differs from the repeated extraction."""
    said = (receipt.extent, receipt.media_type, receipt.bytes_from, receipt.notes, receipt.evidence_size)
    true = (made.extent, made.media_type, made.bytes_from, made.notes, size)
    names = ("its extent", "its media type", "the time at which its bytes begin", "its notes", "its size")
    return [name for name, one, other in zip(names, said, true, strict=True) if one != other]


def _consistent(receipt: Receipt, address: str | None) -> Check:
    if address is not None and address != str(receipt.address):
        detail = f"its address {address} does not match its location, {receipt.address}"
        return Check("receipt", False, detail, Ruling.RECEIPT_EDITED)
    if EvidenceKey.of(receipt.source_digest, receipt.location, receipt.extractor, receipt.options) != receipt.key:
        return Check("receipt", False, "its key does not match its contents", Ruling.RECEIPT_EDITED)
    return Check("receipt", True, "its key matches its contents")
