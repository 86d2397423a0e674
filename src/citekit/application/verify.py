"""Tell whether a piece of evidence really is that part of that source."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from attrs import field, frozen

from citekit.application.resolve import Resolve
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError, DriverMissing, ReceiptMissing, SourceUnreadable, Unavailable
from citekit.domain.evidence import EvidenceKey, Extraction, Receipt
from citekit.domain.ports.outputs import Outputs
from citekit.domain.ports.sources import Sources


@frozen
class Check:
    """One thing that was looked at: `passed` is None where it could not be told."""

    name: str
    passed: bool | None
    detail: str


@frozen
class Verdict:
    """Whether evidence is genuine, and why. `genuine` only where nothing failed and its bytes were made anew."""

    receipt: Receipt
    checks: Sequence[Check] = field(converter=tuple[Check, ...])

    UNPROVEN: ClassVar[Sequence[str]] = ("resource_id", "source_path", "created", "owner")
    """What a receipt says that nothing can prove: names, when it was made, and for whom."""

    @property
    def genuine(self) -> bool:
        """True where every check passed."""
        return all(check.passed is True for check in self.checks)

    @property
    def refuted(self) -> bool:
        """True where a check failed, as opposed to could not be made."""
        return any(check.passed is False for check in self.checks)


@frozen
class VerifyEvidence:
    """Holds evidence against its receipt, and the receipt against the source."""

    sources: Sources
    outputs: Outputs
    resolve: Resolve

    def file(self, path: Path, roots: Sequence[Path] = ()) -> Verdict:
        """The verdict on a file that was cut out here. Raises `ReceiptMissing` where no receipt speaks of it."""
        digest = self.sources.digest_uncached(path)
        if digest is None:
            raise SourceUnreadable(f"There is no readable file at {path}.")
        receipt = self.outputs.receipt(path) or self.outputs.receipt_of(digest)
        if receipt is None:
            raise ReceiptMissing(f"No receipt speaks of {path}: give the receipt itself, or resolve the part again.")
        return self._verdict(receipt, digest, roots)

    def receipt(self, receipt: Receipt, roots: Sequence[Path] = ()) -> Verdict:
        """The verdict on a receipt alone."""
        return self._verdict(receipt, None, roots)

    def _verdict(self, receipt: Receipt, digest: Digest | None, roots: Sequence[Path]) -> Verdict:
        checks = [_consistent(receipt)]
        if digest is not None:
            same = digest == receipt.evidence_digest
            checks.append(
                Check("evidence", same, "the bytes are those of the receipt" if same else "the file was edited")
            )
        source = self._source(receipt, roots)
        if source is None:
            checks.append(Check("source", None, f"no file with the receipt's digest is at {receipt.source_path}"))
        else:
            said = source.stat().st_size == receipt.source_size
            detail = "is the file of the receipt" if said else "is the file of the receipt, which misstates its size"
            checks.append(Check("source", said, f"{source} {detail}"))
            checks.append(self._remade(receipt, source))
        return Verdict(receipt, checks)

    def _source(self, receipt: Receipt, roots: Sequence[Path]) -> Path | None:
        path = Path(receipt.source_path)
        if self.sources.digest_uncached(path) == receipt.source_digest:
            return path
        return self.sources.find(receipt.source_digest, receipt.source_size, path.name, roots) if roots else None

    def _remade(self, receipt: Receipt, path: Path) -> Check:
        with tempfile.TemporaryDirectory(prefix="citekit-verify-") as folder:
            target = Path(folder) / "again"
            try:
                made = self.resolve.again(receipt, self.sources.identify(path), target)
            except Cancelled:
                raise
            except (DriverMissing, Unavailable) as error:
                return Check("content", None, str(error))
            except CiteKitError as error:
                return Check("content", False, str(error))
            if made is None:
                version = f"{receipt.extractor.name} {receipt.extractor.version}"
                return Check("content", None, f"it was cut by {version}, which is not installed here")
            size, same = target.stat().st_size, self.sources.digest_uncached(target) == receipt.evidence_digest
        if not same:
            return Check("content", False, "cutting that part again gives other bytes")
        wrong = _misstated(receipt, made, size)
        if wrong:
            return Check("content", False, f"the bytes are right, but the receipt misstates {', '.join(wrong)}")
        return Check(
            "content", True, "cutting that part again gives the same bytes, and all that the receipt says of them"
        )


def _misstated(receipt: Receipt, made: Extraction, size: int) -> list[str]:
    """What the receipt says of the evidence that is not so."""
    said = (receipt.extent, receipt.media_type, receipt.bytes_from, receipt.notes, receipt.evidence_size)
    true = (made.extent, made.media_type, made.bytes_from, made.notes, size)
    names = ("its extent", "its media type", "where its bytes begin", "its notes", "its size")
    return [name for name, one, other in zip(names, said, true, strict=True) if one != other]


def _consistent(receipt: Receipt) -> Check:
    key = EvidenceKey.of(receipt.source_digest, receipt.location, receipt.extractor, receipt.options)
    same = key == receipt.key
    return Check(
        "receipt", same, "its key follows from its contents" if same else "its key does not follow from its contents"
    )
