"""Error messages for failures of a Qdrant server: which server was used, and what to do."""

from __future__ import annotations

from citekit.adapters.libraries.qdrant_client import Kind, Trouble
from citekit.domain.errors import CiteKitError, IndexUnavailable, RequestRefused

START = (
    "Start one (docker run -p 6333:6333 qdrant/qdrant), "
    "or leave QDRANT_URL and QDRANT_HOST unset to use the embedded index."
)


def translated(trouble: Trouble, place: str, *, has_key: bool) -> CiteKitError:
    """Return the CiteKit error for a failure of the client."""
    said = f" ({trouble.words})" if trouble.words else ""
    match trouble.kind:
        case Kind.REFUSED:
            return RequestRefused(f"The Qdrant server at {place} refused the request{said}.")
        case Kind.KEY:
            return IndexUnavailable(_key(place, has_key))
        case _:
            return IndexUnavailable(_SENTENCES[trouble.kind].format(place=place, said=said))


def _key(place: str, has_key: bool) -> str:
    if has_key:
        return f"The Qdrant server at {place} does not accept the API key; check QDRANT_API_KEY."
    return f"The Qdrant server at {place} asks for an API key; set QDRANT_API_KEY."


_SENTENCES = {
    Kind.UNREACHABLE: "No Qdrant server answers at {place}{said}. " + START,
    Kind.TIMEOUT: "The Qdrant server at {place} did not answer in time. Try again, or give it longer (QDRANT_TIMEOUT).",
    Kind.MISSING: "The Qdrant server at {place} does not know what was asked for{said}.",
    Kind.EXISTS: "The Qdrant server at {place} has that already{said}.",
    Kind.FULL: "The disk of the Qdrant server at {place} is full; free some space there.",
    Kind.SERVER: "The Qdrant server at {place} failed{said}. Try again later, and look into its log.",
    Kind.FOREIGN: "What answers at {place} is no Qdrant server. Check the address and the port. " + START,
    Kind.ADDRESS: "{place} is no address of a Qdrant server{said}; write it as http://host:6333.",
}
