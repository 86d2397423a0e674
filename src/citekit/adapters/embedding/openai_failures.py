"""What the troubles of an embedding request to OpenAI, or to a server of its language, mean to whoever asked."""

from __future__ import annotations

from attrs import field, frozen

from citekit.adapters.drivers.asking_again import TRANSIENT, Verdict
from citekit.adapters.drivers.openai import Kind, Trouble
from citekit.domain.errors import EmbedderUnavailable

_QUOTED = 300


@frozen(kw_only=True)
class Place:
    """Which model is asked, and where; `base_url` None is OpenAI itself. `timeout` is in seconds."""

    model: str
    base_url: str | None = field(repr=False)
    timeout: float

    @property
    def who(self) -> str:
        """How messages call the service."""
        return f"The server at {self.base_url}" if self.base_url else "OpenAI"


STATUSES = {
    400: "did not accept the request{said}: check that '{model}' embeds texts, and the number of dimensions",
    401: "refused the API key{said}: check OPENAI_API_KEY",
    403: "does not permit this to the API key{said}: check its project and the model '{model}'",
    404: "has no model '{model}' for embeddings{said}: choose one that it has",
    408: "did not finish in time{said}: try again later",
    413: "found the request too large{said}: send fewer texts at once",
    422: "did not accept the request{said}: check that '{model}' embeds texts, and the number of dimensions",
    429: "has no quota left for the moment{said}: wait, or raise the quota",
}
"""For other statuses: `_OTHER`, by the hundred."""

_OTHER = {
    3: "answered with a redirect{said}: check the address",
    4: "did not accept the request{said}: check the model '{model}'",
    5: "failed{said}: try again later",
}
_NO_CREDIT = "has no credit left for this account{said}: add credit, or choose another embedder"


def verdict(place: Place, trouble: Trouble) -> Verdict:
    """Our error for a trouble, and whether asking again may help."""
    if trouble.kind is Kind.STATUS:
        return _of_status(place, trouble)
    sentence = {
        Kind.TIMEOUT: f"did not answer within {place.timeout:g} s: try again later, or allow more time",
        Kind.UNREACHABLE: f"is not reachable ({trouble.message[:_QUOTED]}): check that it runs, the network and the address",
        Kind.UNREADABLE: f"gave an answer that cannot be read ({trouble.message[:_QUOTED]}): check the address",
        Kind.SETUP: f"cannot be asked ({trouble.message[:_QUOTED]}): check the key and the address",
    }[trouble.kind]
    transient = trouble.kind in (Kind.TIMEOUT, Kind.UNREACHABLE) and not trouble.lasting
    return Verdict(EmbedderUnavailable(f"{place.who} {sentence}."), transient)


def _of_status(place: Place, trouble: Trouble) -> Verdict:
    status = trouble.status or 500
    broke = "insufficient_quota" in trouble.words
    sentence = _NO_CREDIT if broke else STATUSES.get(status) or _OTHER.get(status // 100, _OTHER[4])
    words = " ".join(trouble.message.split())[:_QUOTED].rstrip(".")
    said = f" (HTTP {status}: {words})" if words else f" (HTTP {status})"
    error = EmbedderUnavailable(f"{place.who} {sentence.format(said=said, model=place.model)}.")
    return Verdict(error, status in TRANSIENT and not broke, trouble.retry_after)
