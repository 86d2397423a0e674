"""Every error that CiteKit raises deliberately, grouped by who can fix it.

CiteKitError
|-- Refused                 the caller
|   |-- AddressMalformed    a text that is not an address, or has a part that is not allowed
|   |-- LocationMalformed   page 0, a reversed range, a box outside 0..1
|   |-- LocationOutside     a valid location beyond the end of its resource
|   |-- ResourceMissing     no map has that ID
|   |-- ResourceIdRefused   an ID that cannot be stored safely
|   |-- NodeMissing         the map has no such node
|   |-- SourceUnreadable    a path that is missing, a folder, a device, empty, or not permitted
|   |-- SourceUnsupported   a file in a format that CiteKit cannot read
|   |-- ReceiptMissing      a file without a receipt
|   |-- FormUnsupported     a form of evidence that this location does not have
|   |-- PathNotAllowed      a path outside the folders that the caller may read
|   |-- BookMissing         no such book in the library
|   |-- CollectionMissing   no such collection in the index
|   |-- AlreadyIngested     a book with the same bytes is already in the collection
|   |-- MetadataMissing     a book without a title or an author
|   |-- PersonaUnknown      no such guardian or pattern
|   `-- RequestRefused      any other request that is contradictory or not valid
|-- FaultyAnswer            the model or the author of the file: has `path: reason` lines
|   `-- VersionTooNew       a map that a later version of CiteKit wrote
|-- DriverMissing           the installation: names the extra to install
|-- Unavailable             the environment
|   |-- MapperUnavailable   the mapper or its service failed
|   |-- ExtractionFailed    a library could not extract the part
|   |-- HomeUnwritable      the home is read-only, or the disk is full
|   |-- LibraryUnavailable  there is no library, or it cannot be read
|   |-- IndexUnavailable    the vector index cannot be reached, or another process has locked it
|   |-- EmbedderUnavailable the embedder's model or service failed
|   `-- Cancelled           the caller canceled the request
`-- Damaged                 CiteKit's stored data
    |-- MapCorrupt          a stored map that cannot be read
    |   `-- MapTooNew       a stored map that a later version of CiteKit wrote
    |-- EvidenceCorrupt     stored evidence whose bytes have changed
    |-- HomeUnsafe          a link, a FIFO, or a device where the home must contain a file or a folder
    |-- IndexCorrupt        a vector index that cannot be read
    |-- LedgerCorrupt       a ledger that cannot be read
    |-- ModelMismatch       a collection that contains another model's vectors
    |-- SourceChanged       the source is no longer the file that was mapped
    `-- SourceMoved         the source is no longer at its path
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property


class CiteKitError(Exception):
    """Base class of all errors that CiteKit raises deliberately. Its text is a complete message for the user."""


class Refused(CiteKitError):
    """The request cannot be fulfilled. A different request can succeed."""


class AddressMalformed(Refused, ValueError):
    """A text that is not an address.

    `address` is the complete text, `part` is the part that is wrong, and `reason` says why.
    """

    def __init__(self, address: str, part: str, reason: str, what: str = "address") -> None:
        self.address, self.part, self.reason = address, part, reason
        shown = address if len(address) <= 200 else f"{address[:200]}..."
        where = "" if part == address else f" at {part[:100]!r}"
        super().__init__(f"The {what} {shown!r} is not valid{where}: {reason}.")


class _LocationRefused(Refused, ValueError):
    """A location error. `reason` is a clause for other messages. The text is a sentence, or a `field: reason` line."""

    def __init__(self, reason: str) -> None:
        self.reason = reason.removesuffix(".")
        field, colon, _ = reason.partition(": ")
        is_line = bool(colon) and field.isidentifier()
        super().__init__(self.reason if is_line else f"{self.reason[:1].upper()}{self.reason[1:]}.")


class LocationMalformed(_LocationRefused):
    """A location that cannot exist in any file, such as page 0 or an end before its start."""


class LocationOutside(_LocationRefused):
    """A valid location that lies beyond the end of its resource."""

    @classmethod
    def beyond(cls, unit: str, number: int, whole: str, count: int) -> LocationOutside:
        """Return the error for a location at unit `number` of a `whole` that has `count` units."""
        return cls(f"{unit} {number} is beyond the end: the {whole} has {count} {unit}{'' if count == 1 else 's'}")


class ResourceMissing(Refused, LookupError):
    """No map is stored under `resource_id`. `expected_at` is its path if it existed, and `nearest` has similar IDs.

    Similar IDs are computed on first use, so a caller that only checks whether a map exists does not pay for them.
    """

    def __init__(
        self, resource_id: str, expected_at: str, look_for_nearest: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.resource_id, self.expected_at, self._look = resource_id, expected_at, look_for_nearest
        super().__init__(resource_id, expected_at)

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        """The most similar IDs, best first."""
        return tuple(self._look())

    def __str__(self) -> str:
        hint = f". Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        return f"No map found for resource '{self.resource_id}'. Expected at: {self.expected_at}{hint}"


class ResourceIdRefused(Refused, ValueError):
    """An ID that cannot be stored safely: it is empty or too long, or contains `/`, `\\`, NUL, or control characters."""


class NodeMissing(Refused, LookupError):
    """The map of `resource_id` has no node `node_id`. `nearest` has the most similar IDs."""

    def __init__(self, resource_id: str, node_id: str, nearest: Sequence[str] = ()) -> None:
        self.resource_id, self.node_id, self.nearest = resource_id, node_id, tuple(nearest)
        hint = f" Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        super().__init__(f"Node '{node_id}' not found.{hint}")


class SourceUnreadable(Refused):
    """A path that cannot be read as a file: it is missing, a folder, a device, empty, or not permitted."""


class SourceUnsupported(Refused):
    """A file in a format that no installed library reads, or whose content does not match its name."""


class ReceiptMissing(Refused, LookupError):
    """A file has no receipt, so CiteKit cannot say where it comes from."""


class FormUnsupported(Refused):
    """The requested form of evidence (`png`, `text`, `frame`, ...) does not exist for this location."""


class PathNotAllowed(Refused):
    """A path outside the allowed folders. The text names the setting that allows more folders.

    `path` is the path as it appears in the text.
    """

    def __init__(self, text: str, path: str | None = None) -> None:
        self.path = path
        super().__init__(text)


class BookMissing(Refused, LookupError):
    """The library has no book `book_id`."""

    def __init__(self, book_id: int) -> None:
        self.book_id = book_id
        super().__init__(f"Book with ID {book_id} not found")


class CollectionMissing(Refused, LookupError):
    """The index has no collection with that name. The text lists the existing collections and says how to create one."""


class AlreadyIngested(Refused):
    """The bytes of a book are already in the collection. `title` is the title under which they were ingested."""

    def __init__(self, title: str, collection: str) -> None:
        self.title, self.collection = title, collection
        super().__init__(f"'{title}' already ingested in collection '{collection}'")


class MetadataMissing(Refused):
    """Neither the file nor the caller gives the metadata in `missing` (`title`, `author`)."""

    def __init__(self, path: str, missing: Sequence[str]) -> None:
        self.path, self.missing = path, tuple(missing)
        super().__init__(f"Missing required metadata: {', '.join(self.missing)}")


class PersonaUnknown(Refused, LookupError):
    """There is no guardian or pattern with that name."""


class RequestRefused(Refused):
    """A request that is contradictory or does not fit the state of the home. The text says how to fix it."""


class FaultyAnswer(CiteKitError):
    """External data (a model's answer, a map file) that is not valid. `faults` are `path: reason` lines."""

    def __init__(self, what: str, faults: Sequence[str]) -> None:
        self.what, self.faults = what, tuple(faults)
        more = f" (and {len(self.faults) - 5} more)" if len(self.faults) > 5 else ""
        shown = "; ".join(fault.removeprefix("$: ") for fault in self.faults[:5])
        super().__init__(f"{what}: {shown}{more}")


class VersionTooNew(FaultyAnswer):
    """A map that a later version of CiteKit wrote. It is valid, but this version cannot read it."""


class DriverMissing(CiteKitError):
    """A library that is not installed. `extra` is the name of the extra that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs the extra '{extra}': pip install 'citekit[{extra}]'.")


class Unavailable(CiteKitError):
    """Something outside CiteKit failed. The same request can succeed later."""


class MapperUnavailable(Unavailable):
    """The mapper failed: its service, its key, or its code."""


class ExtractionFailed(Unavailable):
    """A library could not extract the part from the source. The library's own error is the cause."""


class HomeUnwritable(Unavailable):
    """The home is read-only, not permitted, or on a full disk. Nothing was changed."""


class LibraryUnavailable(Unavailable):
    """There is no library at the configured path, or it cannot be read."""


class IndexUnavailable(Unavailable):
    """The vector index cannot be reached. The text says where CiteKit looked and what to do."""


class EmbedderUnavailable(Unavailable):
    """The embedder failed: its model files, its service, or its key."""


class Cancelled(Unavailable):
    """The caller canceled the request. No partial results remain."""


class Damaged(CiteKitError):
    """Data that CiteKit stored is damaged or out of date. The text says how to re-create it."""


class MapCorrupt(Damaged):
    """A stored map that cannot be read. The text contains `path: reason` lines."""


class MapTooNew(MapCorrupt):
    """A stored map that a later version of CiteKit wrote. It is valid; update CiteKit to read it."""


class EvidenceCorrupt(Damaged):
    """Stored evidence whose bytes do not match its receipt."""


class HomeUnsafe(Damaged):
    """A link, a FIFO, a socket, or a device where the home must contain a file or a folder. CiteKit does not open it."""


class IndexCorrupt(Damaged):
    """A vector index that cannot be read. It can be rebuilt from the books."""


class LedgerCorrupt(Damaged):
    """A ledger of ingested books that cannot be read."""


class ModelMismatch(Damaged):
    """A collection contains vectors of another model than the current one. The text says how to choose."""


class SourceChanged(Damaged):
    """The source at `path` is no longer the file that was mapped. `during_mapping`: it changed while it was being
    mapped.
    """

    def __init__(self, resource_id: str, path: str, *, during_mapping: bool = False) -> None:
        self.resource_id, self.path, self.during_mapping = resource_id, path, during_mapping
        super().__init__(
            f"The file was changed or removed while it was mapped: {path}. "
            "Wait until it no longer changes, and ingest it again."
            if during_mapping
            else f"The source of '{resource_id}' has changed since it was mapped: {path}. "
            f"Map it again (citekit ingest --force {path!r}, or resolve with --remap)."
        )


_PATH_SHOWN = 1000
"""Maximum number of characters of a path in an error message."""


class SourceMoved(Damaged):
    """The source of a map is neither at `path` nor under the given roots."""

    def __init__(self, resource_id: str, path: str) -> None:
        self.resource_id, self.path = resource_id, path
        super().__init__(
            f"The source of '{resource_id}' is not at {_shortened(path)}. "
            "Put it back, ingest it from its new path, or name a folder to look in (--root DIR)."
        )


def _shortened(path: str) -> str:
    """Return a path, truncated for a message: an untrusted map may contain any path."""
    return path if len(path) <= _PATH_SHOWN else f"{path[:_PATH_SHOWN]}..."


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names[:3])
