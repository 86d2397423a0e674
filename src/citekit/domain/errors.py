"""Defines the errors that CiteKit raises deliberately, grouped by who or what can fix them.

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
|   |   `-- SourceSetAside  a file whose mapping crashed every worker that tried it
|   |-- ReceiptMissing      a file without a receipt
|   |-- FormUnsupported     a form of evidence that this location does not have
|   |-- PathNotAllowed      a path outside the folders that the caller may read
|   |-- BookMissing         no such book in the library
|   |-- CollectionMissing   no such collection in the index
|   |-- AlreadyIngested     a book with the same bytes is already in the collection
|   |-- MetadataMissing     a book without a title or an author
|   |-- PersonaUnknown      no such guardian, pattern, or prompt
|   |-- TokenInvalid        an access token that is unknown, forged, expired, or for another server
|   `-- RequestRefused      any other request that is contradictory or not valid
|-- FaultyAnswer            the model or the author of the file: has `path: reason` lines
|   `-- VersionTooNew       a map that a later version of CiteKit wrote
|-- DriverMissing           the installation: names the extra to install
|-- Unavailable             the environment
|   |-- MapperUnavailable   the mapper or its service failed
|   |   `-- SpeechMissing   a worker needs words that a service has not recognized yet
|   |-- ExtractionFailed    a library could not extract the part
|   |-- HomeUnwritable      the home is read-only, or the disk is full
|   |-- LibraryUnavailable  there is no library, or it cannot be read
|   |-- ClusterUnavailable  the cluster cannot be reached, or its scheduler was lost
|   |-- StoreUnavailable    the object store or its database cannot be reached, or refuses the credentials
|   |-- IndexUnavailable    the vector index cannot be reached or written, or is locked
|   |-- EmbedderUnavailable the embedder's model or service failed
|   |-- RerankerUnavailable the reranker's model or service failed
|   |-- IssuerUnavailable   the keys of an issuer of access tokens cannot be fetched
|   `-- Cancelled           the caller canceled the request
`-- Damaged                 CiteKit's stored data
    |-- MapCorrupt          a stored map that cannot be read
    |   `-- MapTooNew       a stored map that a later version of CiteKit wrote
    |-- EvidenceCorrupt     stored evidence whose bytes have changed
    |-- HomeUnsafe          a link, a FIFO, or a device where the home must contain a file or a folder
    |-- IndexCorrupt        a vector index, or the record of tags, that cannot be read
    |-- LedgerCorrupt       a ledger that cannot be read
    |-- ModelMismatch       a collection that contains another model's vectors
    |-- SourceChanged       the source is no longer the file that was mapped
    `-- SourceMoved         the source is no longer at its path
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from citekit.domain.distribution import install_command
from citekit.domain.phrases import series


class CiteKitError(Exception):
    """The base class of errors that CiteKit raises deliberately. The message is meant for users."""


class Refused(CiteKitError):
    """The base class of errors for a request that cannot be fulfilled as it is."""


class AddressMalformed(Refused, ValueError):
    """A text is not a valid address, fragment, or selector.

    `address` is the complete text, `part` is the part of it that is wrong, and `reason` says why.
    """

    def __init__(self, address: str, part: str, reason: str, what: str = "address") -> None:
        self.address, self.part, self.reason = address, part, reason
        shown = address if len(address) <= 200 else f"{address[:200]}..."
        where = "" if part == address else f" at {part[:100]!r}"
        super().__init__(f"The {what} {shown!r} is not valid{where}: {reason}.")


class _LocationRefused(Refused, ValueError):
    """A location error. `reason` has no period at its end, so that other messages can contain it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason.removesuffix(".")
        field, colon, _ = reason.partition(": ")
        is_line = bool(colon) and field.isidentifier()
        super().__init__(self.reason if is_line else f"{self.reason[:1].upper()}{self.reason[1:]}.")


class LocationMalformed(_LocationRefused):
    """A location is not valid, such as page 0 or a range that ends before it starts."""


class LocationOutside(_LocationRefused):
    """A location is valid but not in its resource, for example because it is beyond the end."""

    @classmethod
    def beyond(cls, unit: str, number: int, whole: str, count: int) -> LocationOutside:
        """Return the error for a location such as page 12 (`unit` and `number`) of a document (`whole`) that has only
        10 pages (`count`).
        """
        return cls(f"{unit} {number} is beyond the end: the {whole} has {count} {unit}{'' if count == 1 else 's'}")


class ResourceMissing(Refused, LookupError):
    """No map is stored with the ID `resource_id`.

    `expected_at` is the path at which the map would be stored. `nearest` is computed when it is first read, because the
    search takes time.
    """

    def __init__(
        self, resource_id: str, expected_at: str, look_for_nearest: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.resource_id, self.expected_at, self._look = resource_id, expected_at, look_for_nearest
        super().__init__(resource_id, expected_at)

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        """IDs of stored maps that are similar to the missing ID, best first."""
        return tuple(self._look())

    def __str__(self) -> str:
        hint = f". Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        return f"No map found for resource '{self.resource_id}'. Expected at: {self.expected_at}{hint}"


class ResourceIdRefused(Refused, ValueError):
    """A resource ID cannot be stored safely. See `check_resource_id` for the rules."""


class NodeMissing(Refused, LookupError):
    """The map of `resource_id` has no node with the ID `node_id`. `nearest` lists similar node IDs."""

    def __init__(self, resource_id: str, node_id: str, nearest: Sequence[str] = ()) -> None:
        self.resource_id, self.node_id, self.nearest = resource_id, node_id, tuple(nearest)
        hint = f" Did you mean {_listed(self.nearest)}?" if self.nearest else ""
        super().__init__(f"Node '{node_id}' not found.{hint}")


class SourceUnreadable(Refused):
    """A path cannot be read as a file, for example because it is missing, a folder, or an empty file."""


class SourceUnsupported(Refused):
    """A file cannot be used for the request because of its format or content."""


class SourceSetAside(SourceUnsupported):
    """Every worker of a cluster that tried to map the file ended unexpectedly, so the file is not tried again."""


class ReceiptMissing(Refused, LookupError):
    """A file or evidence has no receipt, or the evidence is no longer stored."""


class FormUnsupported(Refused):
    """A location does not have the requested form of evidence, or a standard cannot express the location."""


class PathNotAllowed(Refused):
    """A path is outside the folders that the caller may read.

    `path` is the path as it appears in the message, or None if the message contains no path.
    """

    def __init__(self, text: str, path: str | None = None) -> None:
        self.path = path
        super().__init__(text)


class BookMissing(Refused, LookupError):
    """The library has no book with the ID `book_id`."""

    def __init__(self, book_id: int) -> None:
        self.book_id = book_id
        super().__init__(f"Book with ID {book_id} not found")


class CollectionMissing(Refused, LookupError):
    """The vector index has no collection with that name. The message says how to create one."""


class AlreadyIngested(Refused):
    """A book with the same bytes is already in `collection`. `title` is the title under which it was ingested."""

    def __init__(self, title: str, collection: str) -> None:
        self.title, self.collection = title, collection
        super().__init__(f"'{title}' already ingested in collection '{collection}'")


class MetadataMissing(Refused):
    """Required metadata of the book at `path` is unknown.

    `missing` has `title`, `author`, or both.
    """

    def __init__(self, path: str, missing: Sequence[str]) -> None:
        self.path, self.missing = path, tuple(missing)
        super().__init__(f"Missing required metadata of {path}: {', '.join(self.missing)}. Specify the missing values.")


class PersonaUnknown(Refused, LookupError):
    """There is no guardian, pattern, or prompt with that name."""


class RequestRefused(Refused):
    """A request contradicts itself, is not valid, or does not fit the state of the home."""


class TokenInvalid(Refused):
    """An access token is not valid: for example, it is unknown, expired, or for another server."""


class FaultyAnswer(CiteKitError):
    """Data from outside CiteKit, such as a model's answer or a map file, is not valid.

    `what` names the data, and `faults` lists the problems in the form `path: reason`.
    """

    def __init__(self, what: str, faults: Sequence[str]) -> None:
        self.what, self.faults = what, tuple(faults)
        more = f" (and {len(self.faults) - 5} more)" if len(self.faults) > 5 else ""
        shown = "; ".join(fault.removeprefix("$: ") for fault in self.faults[:5])
        super().__init__(f"{what}: {shown.rstrip('.')}{more}.")


class VersionTooNew(FaultyAnswer):
    """A map file was written by a later version of CiteKit."""


class DriverMissing(CiteKitError):
    """A library that the request needs is not installed.

    `what` names the feature that needs it, and `extra` is the name of the CiteKit extra that installs it.
    """

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs the extra '{extra}'. To install it, run: {install_command(extra)}")


class Unavailable(CiteKitError):
    """The base class of errors for failures outside CiteKit. The same request can succeed later."""


class MapperUnavailable(Unavailable):
    """The mapper failed, for example because of its service, its API key, or its code."""


class SpeechMissing(MapperUnavailable):
    """A process without network needs words of a recording that are not in its cache."""


class ExtractionFailed(Unavailable):
    """A library could not extract the requested part of the source."""


class HomeUnwritable(Unavailable):
    """The home or another folder cannot be written to, for example because the disk is full."""


class LibraryUnavailable(Unavailable):
    """The library of books is not configured, does not exist, or cannot be read."""


class ClusterUnavailable(Unavailable):
    """The cluster cannot be reached or its workers started, its scheduler was lost, or a worker could not run a job."""


class StoreUnavailable(Unavailable):
    """The object store or the database of its catalog cannot be used: it cannot be reached, does not exist, or refuses the
    credentials, or other machines store maps under the same ID at the same time.
    """


class IndexUnavailable(Unavailable):
    """The vector index cannot be reached or written, or another process has locked it."""


class EmbedderUnavailable(Unavailable):
    """The embedder failed, for example because of its model files, its service, or its API key."""


class RerankerUnavailable(Unavailable):
    """The reranker failed, for example because of its model files, its service, or its budget."""


class IssuerUnavailable(Unavailable):
    """The keys of an issuer of access tokens cannot be fetched."""


class Cancelled(Unavailable):
    """The caller canceled the request."""


class Damaged(CiteKitError):
    """The base class of errors for data that CiteKit stored and that is damaged or out of date."""


class MapCorrupt(Damaged):
    """A stored map cannot be read. If its content is not valid, the message lists the faults as `path: reason`."""


class MapTooNew(MapCorrupt):
    """A stored map was written by a later version of CiteKit. The map is not damaged."""


class EvidenceCorrupt(Damaged):
    """The bytes of stored evidence do not match its receipt, or cannot be read."""


class HomeUnsafe(Damaged):
    """The home contains a link, FIFO, socket, or device instead of a file or a folder, or a database journal that would
    cause the deletion of another file.
    """


class IndexCorrupt(Damaged):
    """A vector index or the record of tags cannot be read."""


class LedgerCorrupt(Damaged):
    """The ledger of ingested books cannot be read."""


class ModelMismatch(Damaged):
    """A collection contains vectors of another embedder or with another number of dimensions."""


class SourceChanged(Damaged):
    """The file at `path` is no longer the file that was mapped.

    `during_mapping` is true if the file was changed or removed while it was being mapped. `command` maps the file again;
    it names the `home`, unless that is "".
    """

    def __init__(self, resource_id: str, path: str, *, during_mapping: bool = False, home: str = "") -> None:
        from shlex import quote

        self.resource_id, self.path, self.during_mapping = resource_id, path, during_mapping
        option = f" --home {quote(home)}" if home else ""
        self.command = f"citekit ingest --force --id {quote(resource_id)} {quote(path)}{option}"
        super().__init__(
            f"The file was changed or removed while it was being mapped: {path}. "
            "Wait until it no longer changes, and ingest it again."
            if during_mapping
            else f"The source of '{resource_id}' has changed since it was mapped: {path}. "
            f"Map it again ({self.command}), or resolve with --remap (in Python: remap=True)."
        )


def in_a_note(error: CiteKitError) -> str:
    """Return the message of an error for a note in an answer, which people and models read: for a changed or moved
    source, the message does not name options of the command line.
    """
    match error:
        case SourceChanged(during_mapping=False):
            return f"The source of '{error.resource_id}' has changed since it was mapped: {error.path}. Map it again."
        case SourceMoved():
            path = _shortened(error.path)
            return f"The source of '{error.resource_id}' is not at {path}. Put it back, or ingest it from its new path."
    return str(error)


_PATH_SHOWN = 1000
"""Maximum number of characters of a path in an error message."""


class SourceMoved(Damaged):
    """The source file of a map is neither at `path` nor in the folders that were searched.

    `is_findable` is whether the map has a digest, by which the file is found in other folders.
    """

    def __init__(self, resource_id: str, path: str, *, is_findable: bool = True) -> None:
        self.resource_id, self.path, self.is_findable = resource_id, path, is_findable
        remedy = (
            "Put it back, ingest it from its new path, or name a folder to look in (--root DIR, CITEKIT_ROOTS, or "
            "`roots` in Python)."
            if is_findable
            else "Put it back, or ingest it from its new path as another resource."
        )
        super().__init__(f"The source of '{resource_id}' is not at {_shortened(path)}. {remedy}")


def _shortened(path: str) -> str:
    """Return `path`, truncated because an untrusted map may contain a path of any length."""
    return path if len(path) <= _PATH_SHOWN else f"{path[:_PATH_SHOWN]}..."


def _listed(names: Sequence[str]) -> str:
    return series((f"'{name}'" for name in names[:3]), "or")
