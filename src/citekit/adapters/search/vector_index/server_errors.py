"""Creates error messages for failures of a Qdrant server. They name the server and say what to do."""

from __future__ import annotations

from citekit.adapters.libraries.qdrant_client import Kind, Trouble
from citekit.domain.errors import CiteKitError, IndexUnavailable, RequestRefused

START = (
    "Start one (docker run -p 6333:6333 qdrant/qdrant), "
    "or leave QDRANT_URL and QDRANT_HOST unset to use the embedded index."
)


def translated(trouble: Trouble, place: str, *, has_key: bool) -> CiteKitError:
    """Return the CiteKit error for a failure of the Qdrant client.

    `place` is the address of the server, and `has_key` is whether an API key is set.
    """
    said = f" ({trouble.words})" if trouble.words else ""
    match trouble.kind:
        case Kind.REFUSED:
            return RequestRefused(f"The Qdrant server at {place} rejected the request{said}.")
        case Kind.KEY:
            return IndexUnavailable(_key(place, has_key))
        case _:
            return IndexUnavailable(_SENTENCES[trouble.kind].format(place=place, said=said))


def _key(place: str, has_key: bool) -> str:
    if has_key:
        return f"The Qdrant server at {place} does not accept the API key. Check QDRANT_API_KEY."
    return f"The Qdrant server at {place} requires an API key. Set QDRANT_API_KEY."


_SENTENCES = {
    Kind.UNREACHABLE: "There is no Qdrant server at {place}{said}. " + START,
    Kind.TIMEOUT: "The Qdrant server at {place} did not answer in time. Try again later, or check its load.",
    Kind.MISSING: "The Qdrant server at {place} has no such collection or entry{said}.",
    Kind.EXISTS: "The Qdrant server at {place} already has a collection with this name{said}.",
    Kind.FULL: "The disk of the Qdrant server at {place} is full. Free some space on it.",
    Kind.SERVER: "The Qdrant server at {place} failed{said}. Try again later, or check the log of the server.",
    Kind.FOREIGN: "The server at {place} is not a Qdrant server. Check the address and the port. " + START,
    Kind.ADDRESS: "{place} is not a valid address of a Qdrant server{said}. Write it like http://host:6333.",
}
