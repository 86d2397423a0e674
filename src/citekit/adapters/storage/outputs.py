"""Copies of evidence under readable names in one folder, with receipts in a hidden subfolder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from attrs import define, field, frozen

from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.file_state import FINE, FileState
from citekit.adapters.system.files import (
    is_temporary,
    open_home_file,
    sweep,
    temporary_beside,
    write_atomically,
    writing,
)
from citekit.adapters.system.home_files import check_folder, check_parent, make_folder
from citekit.adapters.system.permissions import OWNER, mode_for, narrow, readers_at
from citekit.domain.digest import Digest
from citekit.domain.errors import EvidenceCorrupt, FaultyAnswer, HomeUnsafe
from citekit.domain.evidence import Receipt, StoredEvidence
from citekit.domain.ports.locks import wait_silently
from citekit.domain.ports.outputs import any_receipt
from citekit.domain.unicode_controls import CONTROLS, IGNORED, SEPARATORS
from citekit.wire import receipts

NAME_LIMIT = 255
"""Length limit of a file name on common file systems, in bytes."""

RECEIPTS = ".receipts"
BY_CONTENT = ".by_content"
"""Subfolder of receipts by evidence digest. The receipt of an output that was moved or renamed is found there."""

CONTENT_LIMIT = 10_000
"""Maximum number of receipts by evidence digest. The first output of a process removes the oldest ones beyond it."""

_UNSAFE = re.compile(rf'[/\\<>:"|?*{CONTROLS}{SEPARATORS}{IGNORED}]')
"""Characters that Windows forbids in file names, control characters, and invisible or bidirectional characters."""

_SUFFIX = re.compile(r"(?:\.[A-Za-z0-9]{1,15}){1,2}")
_RECEIPT_SUFFIX = ".json"
_TAG_LENGTH = 9
_SLOTS = 256

REMEMBERED = 8192
"""Maximum number of cached outputs; the least recently used is evicted first."""

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""


class FriendlyOutputs:
    """An `Outputs` store in a folder. Each output is a hard link to the stored object, or a copy if links do not work.

    The owner and the options, such as the form, in the receipt of a file determine which evidence may reuse its name.
    After a power failure, the last outputs may be incomplete until they are requested again.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is created with the first output."""
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100 (resolve() would follow links that the user set)
        self._receipts = self._folder / RECEIPTS
        self._locks = Locks(self._receipts / ".locks")
        self._placed = PlacedFiles()
        self._swept = False

    def place(
        self,
        evidence: StoredEvidence,
        receipt: Receipt,
        name: str,
        owner: str | None = None,
        waiting: Callable[[], object] = wait_silently,
    ) -> Path:
        """See `Outputs.place`. Nothing is written if the file is already there."""
        asked = Asked(name, evidence.extraction.suffix, owner)
        placed = self._placed.asked(asked, receipt)
        if placed is not None and _shown(placed.path, evidence, placed.shown) == placed.shown:
            return placed.path
        return self._place(evidence, receipt, asked, waiting)

    def _place(self, evidence: StoredEvidence, receipt: Receipt, asked: Asked, waiting: Callable[[], object]) -> Path:
        plain = {**_written(receipt), "owner": asked.owner or str(receipt.address)}
        wanted, own = _names(asked.name, asked.suffix, plain)
        for file_name in (wanted, own):
            claim = _Claim.read(self._receipt_path(file_name))
            claimed = claim.plain if claim is not None else None
            if file_name == own or claimed is None or _place_of(claimed) == _place_of(plain):
                path = self._folder / file_name
                shown = _shown(path, evidence, self._shown_before(path))
                if claim is not None and shown is not None and _same(claim.plain, plain):
                    self._narrow(evidence, file_name)
                    seen = self._receipt_path(file_name), claim.state, claim.read_at
                    self._placed.keep(asked, path, shown, receipt, seen)
                    return path
                if self._lay(evidence, plain, file_name, waiting, shared=file_name == wanted):
                    return path
        return self._folder / own

    def _narrow(self, evidence: StoredEvidence, file_name: str) -> None:
        """Remove read permission on the receipts from users who may no longer read the evidence."""
        readers = _readers(evidence)
        for path in (self._receipt_path(file_name), self._content_path(evidence.digest)):
            narrow(path, readers)

    def is_unchanged(self, path: Path, evidence: StoredEvidence, receipt: Receipt) -> bool:
        """See `Outputs.is_unchanged`. The result is False if this process did not write or check the output before."""
        placed = self._placed.at(path)
        return placed is not None and placed.has(receipt) and _shown(path, evidence, placed.shown) is not None

    def _shown_before(self, path: Path) -> FileState | None:
        placed = self._placed.at(path)
        return placed.shown if placed is not None else None

    def receipt(self, path: Path) -> Receipt | None:
        """See `Outputs.receipt`. The file may have been edited since."""
        if not _is_same_folder(path.parent, self._folder):
            return None
        return _receipt_in(self._receipt_path(path.name))

    def receipt_of(self, digest: Digest, is_allowed: Callable[[Receipt], bool] = any_receipt) -> Receipt | None:
        """See `Outputs.receipt_of`. Only the receipt of the latest output with these bytes is stored."""
        found = _receipt_in(self._content_path(digest))
        return found if found is not None and found.evidence_digest == digest and is_allowed(found) else None

    def _lay(
        self,
        evidence: StoredEvidence,
        plain: dict[str, object],
        file_name: str,
        waiting: Callable[[], object],
        *,
        shared: bool,
    ) -> bool:
        """Write the file and its receipt, unless the name is `shared` and belongs to other evidence. Return whether
        they were written.
        """
        with self._locks.hold(_slot(file_name), waiting):
            claimed = self._claim(file_name)
            if shared and claimed is not None and _place_of(claimed) != _place_of(plain):
                return False
            self._sweep_once()
            path = self._folder / file_name
            check_parent(path)
            data = json.dumps(plain, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
            # The receipt by content comes first: a file must never be next to the receipt of another file.
            mode = mode_for(_readers(evidence))
            write_atomically(self._content_path(evidence.digest), data, durable=False, mode=mode)
            if claimed is not None and claimed.get("evidence_digest") != evidence.digest.hex:
                with writing(path):
                    check_parent(self._receipt_path(file_name))
                    self._receipt_path(file_name).unlink(missing_ok=True)
            if _shown(path, evidence, self._shown_before(path)) is None:
                self._placed.forget(path)
                _link_or_copy(evidence, path)
            write_atomically(self._receipt_path(file_name), data, durable=False, mode=mode)
            return True

    def _claim(self, file_name: str) -> dict[str, object] | None:
        claim = _Claim.read(self._receipt_path(file_name))
        return claim.plain if claim is not None else None

    def _receipt_path(self, file_name: str) -> Path:
        return self._receipts / f"{file_name}{_RECEIPT_SUFFIX}"

    def _content_path(self, digest: Digest) -> Path:
        return self._receipts.joinpath(BY_CONTENT, *digest.fan_out).with_suffix(_RECEIPT_SUFFIX)

    def _sweep_once(self) -> None:
        if not self._swept:
            self._swept = True
            sweep(self._folder)
            sweep(self._receipts)
            _sweep_contents(self._receipts / BY_CONTENT)


@frozen
class _Claim:
    """The content of a receipt file, its state, and when it was read (seconds since the epoch)."""

    plain: dict[str, object]
    state: FileState
    read_at: float

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the receipt file, or return None if there is no valid one."""
        read_at = time.time()
        check_parent(path)
        try:
            with open_home_file(path) as file:
                state, plain = FileState.of(os.fstat(file.fileno())), json.loads(file.read())
        except (OSError, ValueError, RecursionError, HomeUnsafe):
            return None
        return cls(plain, state, read_at) if isinstance(plain, dict) and isinstance(plain.get("address"), str) else None


def _receipt_in(path: Path) -> Receipt | None:
    claim = _Claim.read(path)
    try:
        return receipts.from_plain(claim.plain, str(path)) if claim is not None else None
    except FaultyAnswer:
        return None


def _names(name: str, suffix: str, plain: dict[str, object]) -> tuple[str, str]:
    """Return the preferred name and the unambiguous name, both short enough for the names of their receipts."""
    suffix = suffix if _SUFFIX.fullmatch(suffix) else ""
    stem = _fitted(name, NAME_LIMIT - len(suffix) - _TAG_LENGTH - len(_RECEIPT_SUFFIX))
    return f"{stem}{suffix}", f"{stem}_{_tag(json.dumps(_place_of(plain)))}{suffix}"


def _fitted(name: str, limit: int) -> str:
    safe = _UNSAFE.sub("_", name).encode("utf-8", "replace").decode()
    safe = f"_{safe[1:]}" if safe.startswith(".") else safe.strip() or "evidence"
    data = safe.encode()
    if len(data) <= limit:
        return safe
    head = data[: limit - _TAG_LENGTH].decode("utf-8", "ignore")
    return f"{head}_{_tag(safe)}"


def _tag(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: _TAG_LENGTH - 1]


def _written(receipt: Receipt) -> dict[str, object]:
    """Return the receipt as JSON would return it: with lists instead of tuples."""
    plain: dict[str, object] = json.loads(json.dumps(receipts.to_plain(receipt)))
    return plain


def _place_of(plain: dict[str, object]) -> list[Any]:
    """Return what a file name with this receipt belongs to: the owner (or else the address) and the options."""
    return [plain.get("owner", plain.get("address")), plain.get("options")]


def _same(left: dict[str, object], right: dict[str, object]) -> bool:
    return {**left, "created": None} == {**right, "created": None}


def _shown(path: Path, evidence: StoredEvidence, before: FileState | None) -> FileState | None:
    """Return the file's state if it is the object or an unchanged copy, else None.

    A copy that this process has verified is recognized by its state (`before`). Others are read, because an archive can
    give any file the size, mode, and timestamp of the object.
    """
    try:
        there, stored = os.lstat(path), os.lstat(evidence.path)
    except OSError:
        return None
    state = FileState.of(there)
    if (there.st_dev, there.st_ino) == (stored.st_dev, stored.st_ino):
        return state
    if (there.st_mode, there.st_size, there.st_mtime_ns) != (stored.st_mode, stored.st_size, stored.st_mtime_ns):
        return None
    if before is not None:
        return state if before == state else None
    return state if _has_bytes(path, state, evidence.digest) else None


def _has_bytes(path: Path, state: FileState, digest: Digest) -> bool:
    """Return whether the file is still in that state and its bytes have that digest."""
    try:
        with open_home_file(path) as file:
            same = FileState.of(os.fstat(file.fileno())) == state
            return same and Digest.of_stream(file) == digest and FileState.of(os.fstat(file.fileno())) == state
    except (OSError, HomeUnsafe):
        return False


def _readers(evidence: StoredEvidence) -> int:
    found = readers_at(evidence.path)
    return OWNER if found is None else found


def _link_or_copy(evidence: StoredEvidence, path: Path) -> None:
    with writing(path), temporary_beside(path) as temporary:
        try:
            temporary.hardlink_to(evidence.path)
        except OSError:
            make_folder(path.parent)
            _copy(evidence, temporary)
        temporary.replace(path)


def _copy(evidence: StoredEvidence, target: Path) -> None:
    """Copy the object with its timestamp and mode, which identify the copy later."""
    try:
        source = evidence.path.open("rb")
    except FileNotFoundError as error:
        raise EvidenceCorrupt(
            "The evidence was removed from the cache while it was being copied from there. Resolve its address again."
        ) from error
    except OSError as error:
        raise EvidenceCorrupt(
            f"The cached evidence {evidence.path} cannot be read ({error.strerror or error}). Make it readable or delete "
            "it, and resolve its address again."
        ) from error
    private = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with source, os.fdopen(private, "wb") as copy:
        shutil.copyfileobj(source, copy, 1024 * 1024)
    shutil.copystat(evidence.path, target)


def _sweep_contents(folder: Path) -> None:
    """Remove temporary files of killed processes, and the oldest receipts beyond the limit."""
    receipts_there: list[Path] = []
    for each in _entries(folder):
        sweep(each)
        receipts_there += [path for path in _entries(each) if not is_temporary(path.name)]
    excess = len(receipts_there) - CONTENT_LIMIT
    if excess > 0:
        for path in sorted(receipts_there, key=_written_at)[:excess]:
            with suppress(OSError):
                path.unlink()


def _entries(folder: Path) -> list[Path]:
    check_folder(folder)
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _written_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_same_folder(left: Path, right: Path) -> bool:
    try:
        return left.samefile(right)
    except (OSError, ValueError):
        return False


def _slot(file_name: str) -> str:
    return f"{hashlib.sha256(file_name.encode('utf-8', 'surrogatepass')).digest()[0] % _SLOTS:02x}"


@frozen
class Asked:
    """The inputs other than the receipt that determine an output's file name."""

    name: str
    suffix: str
    owner: str | None


@frozen
class Placed:
    """An output file at `path` with the file state `shown`, and its receipt.

    The receipt's file, read after `read_at`, has been in the state `state` since `since`.
    """

    path: Path
    shown: FileState
    receipt: Receipt
    receipt_file: str
    state: FileState
    since: float
    read_at: float
    is_settled: bool = field(init=False)

    @is_settled.default
    def _settled(self) -> bool:
        return self.state.is_settled(self.read_at, RACY, self.since)

    def has(self, receipt: Receipt) -> bool:
        """Return whether the receipt file still contains the given receipt, judging by the state of the file."""
        if not self.is_settled or (self.receipt is not receipt and self.receipt != receipt):
            return False
        try:
            return FileState.of(os.lstat(self.receipt_file)) == self.state
        except OSError:
            return False


@define
class PlacedFiles:
    """The `REMEMBERED` most recently used outputs, by request and by path."""

    _asked: OrderedDict[Asked, Placed] = field(factory=OrderedDict, init=False)
    _paths: dict[Path, Placed] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def asked(self, asked: Asked, receipt: Receipt) -> Placed | None:
        """Return an earlier output for the same request and receipt, or None."""
        placed = self._asked.get(asked)
        if placed is None or not placed.has(receipt):
            return None
        with self._lock:
            if asked in self._asked:
                self._asked.move_to_end(asked)
        return placed

    def at(self, path: Path) -> Placed | None:
        """Return the last output at `path`, or None."""
        return self._paths.get(path)

    def keep(
        self, asked: Asked, path: Path, shown: FileState, receipt: Receipt, claim: tuple[Path, FileState, float]
    ) -> None:
        """Cache the output at `path`. `claim` has the receipt's file, its state, and when it was read."""
        receipt_file, state, at = claim
        with self._lock:
            before = self._paths.get(path)
            since = before.since if before is not None and before.state == state else at
            self._drop(asked)
            self._asked[asked] = self._paths[path] = Placed(path, shown, receipt, str(receipt_file), state, since, at)
            while len(self._asked) > REMEMBERED:
                self._drop(next(iter(self._asked)))

    def forget(self, path: Path) -> None:
        """Forget the output at `path`."""
        with self._lock:
            self._paths.pop(path, None)

    def _drop(self, asked: Asked) -> None:
        placed = self._asked.pop(asked, None)
        if placed is not None and self._paths.get(placed.path) is placed:
            del self._paths[placed.path]
