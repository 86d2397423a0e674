"""Every error CiteKit raises on purpose, sorted by who can put it right.

CiteKitError
|-- Refused                 the caller
|   |-- AddressMalformed    a text that is no address, or a part of it that is not allowed
|   |-- LocationMalformed   a page 0, a reversed range, a box outside 0..1
|   |-- LocationOutside     a well-formed location beyond the end of its resource
|   |-- ResourceMissing     no map under that id
|   |-- ResourceIdRefused   an id that cannot be stored safely
|   |-- NodeMissing         no such node in that map
|   |-- SourceUnreadable    a path that is missing, a folder, a device, empty, or not permitted
|   |-- SourceUnsupported   a file whose content no driver here understands
|   |-- ReceiptMissing      evidence that no receipt speaks of
|   |-- FormUnsupported     evidence asked for in a form that this location does not have
|   |-- PathNotAllowed      a path outside the folders that the caller may name
|   |-- BookMissing         no such book in the library
|   |-- CollectionMissing   no such collection in the index
|   |-- AlreadyIngested     a book whose very bytes are in the collection
|   |-- MetadataMissing     a file that does not say what it is called, or who wrote it
|   |-- PersonaUnknown      no such guardian or pattern
|   `-- RequestRefused      any other request that contradicts itself
|-- FaultyAnswer            the model or the file's author: carries `path: reason` lines
|   `-- VersionTooNew       a map of a later version than is known here
|-- DriverMissing           the installation: names the extra to install
|-- Unavailable             the world
|   |-- MapperUnavailable   the mapper, or the service behind it, did not answer
|   |-- ExtractionFailed    the driver could not cut that part
|   |-- HomeUnwritable      the home cannot be written: read-only, or the disk is full
|   |-- LibraryUnavailable  there is no library, or it cannot be read now
|   |-- IndexUnavailable    the vector index cannot be reached, or another process holds it
|   |-- EmbedderUnavailable the embedder's model or service failed
|   `-- Cancelled           the caller gave up while we worked
`-- Damaged                 our own data
    |-- MapCorrupt          a stored map that cannot be read
    |   `-- MapTooNew       a stored map that a later CiteKit made
    |-- EvidenceCorrupt     stored evidence whose bytes are not what they were
    |-- HomeUnsafe          a link, a FIFO or a device inside the home, where a file or folder of its own should be
    |-- IndexCorrupt        a vector index that cannot be read
    |-- LedgerCorrupt       a ledger that cannot be read
    |-- ModelMismatch       a collection holds another model's vectors
    |-- SourceChanged       the source is no longer the file that was mapped
    `-- SourceMoved         the source is no longer where it was mapped
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property


class CiteKitError(Exception):
    """Base of all errors that CiteKit raises on purpose; its text is one sentence for a person."""


class Refused(CiteKitError):
    """The caller asked for something that cannot be; asking differently helps."""


class AddressMalformed(Refused, ValueError):
    """A text that is no address.

    `address` is the text as given, `part` the offending piece of it, `reason` why it was refused.
    """

    def __init__(self, address: str, part: str, reason: str) -> None:
        self.address, self.part, self.reason = address, part, reason
        shown = address if len(address) <= 200 else f"{address[:200]}..."
        super().__init__(f"Address {shown!r} is refused at {part[:100]!r}: {reason}.")


class LocationMalformed(Refused, ValueError):
    """A location that no file could have, such as page 0 or an end before its start."""


class LocationOutside(Refused, ValueError):
    """A well-formed location that lies beyond the end of its resource."""


class ResourceMissing(Refused, LookupError):
    """No map is stored under `resource_id`; `expected_at` is the path that it would have, `nearest` has similar IDs.

    Similar IDs are computed on first use: a caller that only checks whether there is a map does not pay for them.
    """

    def __init__(
        self, resource_id: str, expected_at: str, look_for_nearest: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.resource_id, self.expected_at, self._look = resource_id, expected_at, look_for_nearest
        super().__init__(resource_id, expected_at)

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        """The ids that are written most alike, best first."""
        return tuple(self._look())

    def __str__(self) -> str:
        hint = f". Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        return f"No map found for resource '{self.resource_id}'. Expected at: {self.expected_at}{hint}"


class ResourceIdRefused(Refused, ValueError):
    """An id that cannot be stored safely: empty, too long, or holding `/`, `\\`, NUL or control characters."""


class NodeMissing(Refused, LookupError):
    """The map of `resource_id` has no node `node_id`; `nearest` holds the most similar ids."""

    def __init__(self, resource_id: str, node_id: str, nearest: Sequence[str] = ()) -> None:
        self.resource_id, self.node_id, self.nearest = resource_id, node_id, tuple(nearest)
        hint = f" Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        super().__init__(f"Node '{node_id}' not found.{hint}")


class SourceUnreadable(Refused):
    """A path that cannot be read as a file: missing, a folder, a device, empty, or not permitted."""


class SourceUnsupported(Refused):
    """A file whose content no installed driver understands, or that is not what its name says."""


class ReceiptMissing(Refused, LookupError):
    """No receipt speaks of a file, so nobody can say what it is."""


class FormUnsupported(Refused):
    """Evidence was asked for in a form (`png`, `text`, `frame`, ...) that this location does not have."""


class PathNotAllowed(Refused):
    """A path outside the folders that may be named here; the text names the setting that widens them.

    `path` is the path as it stands in the text.
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
    """The index has no collection of that name; the text says which there are and how one is made."""


class AlreadyIngested(Refused):
    """The bytes of a book are in the collection already; `title` is that under which they were ingested."""

    def __init__(self, title: str, collection: str) -> None:
        self.title, self.collection = title, collection
        super().__init__(f"'{title}' already ingested in collection '{collection}'")


class MetadataMissing(Refused):
    """A file says nothing of `missing` (`title`, `author`), and nobody else did."""

    def __init__(self, path: str, missing: Sequence[str]) -> None:
        self.path, self.missing = path, tuple(missing)
        super().__init__(f"Missing required metadata: {', '.join(self.missing)}")


class PersonaUnknown(Refused, LookupError):
    """There is no guardian, or no pattern, of that name."""


class RequestRefused(Refused):
    """A request that contradicts itself or the state of the home; the text says how to fix it."""


class FaultyAnswer(CiteKitError):
    """Data from outside (a model's answer, a map file) that does not fit; `faults` are `path: reason` lines."""

    def __init__(self, what: str, faults: Sequence[str]) -> None:
        self.what, self.faults = what, tuple(faults)
        more = f" (and {len(self.faults) - 5} more)" if len(self.faults) > 5 else ""
        super().__init__(f"{what}: {'; '.join(self.faults[:5])}{more}")


class VersionTooNew(FaultyAnswer):
    """A map of a later version than is known here: nothing is wrong with it, and a later CiteKit reads it."""


class DriverMissing(CiteKitError):
    """A driver that is not installed; `extra` is the name to install it by."""

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs the extra '{extra}': pip install 'citekit[{extra}]'.")


class Unavailable(CiteKitError):
    """The world did not play along; the same request may succeed later."""


class MapperUnavailable(Unavailable):
    """The mapper could not do its work: its service, its key, or its code failed."""


class ExtractionFailed(Unavailable):
    """A driver could not cut that part out of that source; the driver's own error is the cause."""


class HomeUnwritable(Unavailable):
    """The home cannot be written: read-only, not permitted, or the disk is full. Nothing was changed."""


class LibraryUnavailable(Unavailable):
    """There is no library where one was expected, or it cannot be read now."""


class IndexUnavailable(Unavailable):
    """The vector index cannot be reached; the text says where it was looked for, and what to do."""


class EmbedderUnavailable(Unavailable):
    """The embedder could not do its work: its model files, its service or its key failed."""


class Cancelled(Unavailable):
    """The caller gave up while we worked; nothing half-made remains."""


class Damaged(CiteKitError):
    """Our own data is not what it was; the text says how to make it again."""


class MapCorrupt(Damaged):
    """A stored map that cannot be read; the text holds `path: reason` lines."""


class MapTooNew(MapCorrupt):
    """A stored map that a later CiteKit made; it is whole, and is read after an update."""


class EvidenceCorrupt(Damaged):
    """Stored evidence whose bytes are not what the receipt says."""


class HomeUnsafe(Damaged):
    """A link, a FIFO, a socket or a device where a home holds files or folders of its own; it is not opened."""


class IndexCorrupt(Damaged):
    """A vector index that cannot be read; it can be made again from the books."""


class LedgerCorrupt(Damaged):
    """A ledger of ingested books that cannot be read."""


class ModelMismatch(Damaged):
    """A collection holds vectors of another model than the one in use; the text says how to choose."""


class SourceChanged(Damaged):
    """The source at `path` is no longer the file that was mapped. `during_mapping`: it changed while it was mapped."""

    def __init__(self, resource_id: str, path: str, *, during_mapping: bool = False) -> None:
        self.resource_id, self.path, self.during_mapping = resource_id, path, during_mapping
        super().__init__(
            f"The file was changed or removed while it was mapped: {path}. Ingest it again when it stays as it is."
            if during_mapping
            else f"The source of '{resource_id}' has changed since it was mapped: {path}. "
            f"Map it again (citekit ingest --force {path!r}, or resolve with --remap)."
        )


_PATH_SHOWN = 1000
"""Characters of a path that an error shows."""


class SourceMoved(Damaged):
    """The source of a map is no longer at `path`, nor found under the given roots."""

    def __init__(self, resource_id: str, path: str) -> None:
        self.resource_id, self.path = resource_id, path
        super().__init__(
            f"The source of '{resource_id}' is not at {_shortened(path)}. "
            "Put it back, ingest it at its new place, or name a folder to look in (--root DIR)."
        )


def _shortened(path: str) -> str:
    """A path as an error shows it: an untrusted map may contain any path."""
    return path if len(path) <= _PATH_SHOWN else f"{path[:_PATH_SHOWN]}..."


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names[:3])
