"""What the exceptions of the Gemini SDK and its transport mean: one table, one sentence each."""

from __future__ import annotations

import functools
import importlib
import json
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any

from attrs import field, frozen

from citekit.domain.errors import CiteKitError, MapperUnavailable

MODELS_PAGE = "https://ai.google.dev/gemini-api/docs/models"
KEYS_PAGE = "https://aistudio.google.com/apikey"
LIMITS_PAGE = "https://ai.google.dev/gemini-api/docs/rate-limits"

MESSAGE_LIMIT = 300
"""Characters of the service's own words that are quoted."""


@frozen
class Scene:
    """What was being done, for the sentences: with which model, at which address, how long was waited.

    `variables` says where the key was looked for; `key` itself is only there to be kept out of every text.
    """

    model: str
    base_url: str
    timeout: float
    variables: str
    suggestion: str
    key: str = field(repr=False)


@frozen
class Trouble:
    """Our error for an exception, whether asking again may help, and how many seconds to wait before."""

    error: MapperUnavailable
    transient: bool
    retry_after: float | None = None


Meaning = Callable[[Any, Scene], Trouble]


def explain(error: Exception, scene: Scene) -> Trouble | None:
    """What an exception means; None for one that is none of the SDK's, such as our own."""
    if isinstance(error, CiteKitError):
        return None
    return next((table()[kind](error, scene) for kind in type(error).__mro__ if kind in table()), None)


@functools.cache
def table() -> Mapping[type[BaseException], Meaning]:
    """Every exception that the SDK or its transport raises, by its nearest class."""
    import pydantic
    from google.genai import _api_client, errors

    meanings: dict[type[BaseException], Meaning] = {
        errors.APIError: _refused,
        errors.UnknownApiResponseError: _nonsense,
        errors.ContinuationInterruptedError: _nonsense,
        _api_client.EphemeralTokenAPIKeyError: _short_lived_key,
        pydantic.ValidationError: _nonsense,
        json.JSONDecodeError: _nonsense,
        UnicodeDecodeError: _nonsense,
        KeyError: _nonsense,
        AttributeError: _nonsense,
        TypeError: _nonsense,
        ValueError: _not_sent,
        ImportError: _not_installed,
        EOFError: _file_changed,
    }
    for transport in _transports():
        meanings |= _of_transport(transport)
    return meanings


def _transports() -> Iterator[ModuleType]:
    """httpx2, and httpx where it is installed too: `GOOGLE_GENAI_HTTP_CLIENT` chooses."""
    for name in ("httpx2", "httpx"):
        with suppress(ImportError):
            yield importlib.import_module(name)


def _of_transport(httpx: Any) -> dict[type[BaseException], Meaning]:
    return {
        httpx.TimeoutException: _timed_out,
        httpx.ConnectTimeout: _unreachable,
        httpx.ConnectError: _unreachable,
        httpx.ProxyError: _unreachable,
        httpx.TransportError: _lost,
        httpx.LocalProtocolError: _not_sent,
        httpx.UnsupportedProtocol: _no_address,
        httpx.InvalidURL: _no_address,
        httpx.HTTPError: _nonsense,
        httpx.StreamError: _nonsense,
        httpx.CookieConflict: _nonsense,
    }


def _final(text: str, scene: Scene) -> Trouble:
    return Trouble(_error(text, scene), transient=False)


def _error(text: str, scene: Scene) -> MapperUnavailable:
    return MapperUnavailable(_without_key(text, scene))


def _without_key(text: str, scene: Scene) -> str:
    return text.replace(scene.key, "(the key)") if scene.key else text


# What a status means: (pattern of the service's reason or words, our words, what to do, whether asking again may help).

_Row = tuple[str, str, str, bool]

STATUSES: dict[int, tuple[_Row, ...]] = {
    400: (
        ("API_KEY|api key", "refused the API key", "check {variables}, or make a new key at {keys}", False),
        (
            "FAILED_PRECONDITION",
            "does not serve this account or country",
            "enable billing for the key's project at {keys}, or use --mapper local",
            False,
        ),
        (
            "token count|number of tokens|too many tokens",
            "found the question longer than the model '{model}' takes",
            "choose a model that takes more (--model), or map a smaller file",
            False,
        ),
        (
            "",
            "did not accept the request",
            "the model '{model}' may not take such files; choose another (--model), or use --mapper local",
            False,
        ),
    ),
    401: (("", "refused the API key", "check {variables}, or make a new key at {keys}", False),),
    403: (
        (
            "",
            "does not permit this to the API key",
            "check {variables}, and that its project may use the Generative Language API and the model '{model}' ({keys})",
            False,
        ),
    ),
    404: (
        (
            "/models/|models?\\b",
            "has no model '{model}'",
            "choose another (--model), such as {suggestion}; {models} lists them",
            False,
        ),
        ("", "found nothing at {base_url}", "check the address (--base-url)", False),
    ),
    408: (("", "did not finish in time", "raise --timeout (now {timeout:.0f} s), or map a smaller file", True),),
    413: (("", "found the request too large", "map a smaller file, or use --mapper local", False),),
    429: (
        (
            "PerDay",
            "has no quota left today for the model '{model}'",
            "wait until tomorrow (it is renewed at midnight, Pacific time), choose another model (--model), "
            "or raise the quota ({limits})",
            False,
        ),
        (
            "",
            "has no quota left for the moment",
            "wait{wait}, map fewer files at once (--concurrency), or raise the quota ({limits})",
            True,
        ),
    ),
    500: (("", "failed", "try again later, or choose another model (--model)", True),),
    502: (("", "is not reachable behind its gateway", "try again later", True),),
    503: (("", "is overloaded or down", "try again later, or choose another model (--model)", True),),
    504: (("", "did not finish in time", "raise --timeout (now {timeout:.0f} s), or map a smaller file", True),),
}
"""For other statuses, see `_OTHER`."""

_OTHER: dict[int, _Row] = {
    3: ("", "answered with a redirect, which is not followed", "check the address {base_url} (--base-url)", False),
    4: ("", "did not accept the request", "choose another model (--model), or use --mapper local", False),
    5: ("", "failed", "try again later, or choose another model (--model)", False),
}


def _refused(error: Any, scene: Scene) -> Trouble:
    """A status other than 200 (`APIError`)."""
    code = int(error.code or 0)
    clues = f"{error.status} {_words(error)} {_reasons(error)} {_path(error)}"
    rows = STATUSES.get(code) or (_OTHER.get(code // 100, _OTHER[4]),)
    _, happened, remedy, transient = next(row for row in rows if re.search(row[0], clues, re.IGNORECASE))
    wait = _retry_after(error)
    said = ": ".join(part for part in (f"HTTP {code} {error.status or ''}".strip(), _words(error)) if part)
    filled = f"Gemini {happened} ({{said}}): {remedy}.".format(
        said=said,
        wait="" if wait is None else f" {wait:.0f} s",
        **_facts(scene),
    )
    return Trouble(_error(filled, scene), transient, wait)


def _facts(scene: Scene) -> dict[str, Any]:
    return {
        "model": scene.model,
        "base_url": scene.base_url,
        "timeout": scene.timeout,
        "variables": scene.variables,
        "suggestion": scene.suggestion,
        "keys": KEYS_PAGE,
        "models": MODELS_PAGE,
        "limits": LIMITS_PAGE,
    }


def _words(error: Any) -> str:
    """The service's own message on one line; nothing where it is a web page."""
    text = " ".join(str(error.message or "").split())
    if text.startswith("<"):
        return ""
    return (text if len(text) <= MESSAGE_LIMIT else f"{text[: MESSAGE_LIMIT - 3]}...").rstrip(".")


def _path(error: Any) -> str:
    with suppress(AttributeError, RuntimeError):
        return str(error.response.request.url.path)
    return ""


def _details(error: Any) -> list[dict[str, Any]]:
    """The `google.rpc` details of an error, as far as there are any."""
    plain = error.details
    inner = plain.get("error", plain) if isinstance(plain, dict) else {}
    details = inner.get("details") if isinstance(inner, dict) else None
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _reasons(error: Any) -> str:
    """Reasons (`google.rpc.ErrorInfo`) and the ids of the quotas that were exceeded (`google.rpc.QuotaFailure`)."""
    found = [str(each.get("reason", "")) for each in _details(error)]
    for each in _details(error):
        violations = each.get("violations")
        if isinstance(violations, list):
            found += [str(item.get("quotaId", "")) for item in violations if isinstance(item, dict)]
    return " ".join(found)


def _retry_after(error: Any) -> float | None:
    """Seconds to wait: of the header `Retry-After` (RFC 9110, 10.2.3), else of a `google.rpc.RetryInfo`."""
    headers = getattr(error.response, "headers", None) or {}
    asked = _seconds(str(headers.get("retry-after", "")))
    if asked is not None:
        return asked
    for each in _details(error):
        match = re.fullmatch(r"(\d{1,9}(?:\.\d*)?)s", str(each.get("retryDelay", "")))
        if match:
            return float(match[1])
    return None


def _seconds(text: str) -> float | None:
    if re.fullmatch(r"\d{1,9}", text.strip()):
        return float(text)
    with suppress(ValueError, TypeError):
        date = parsedate_to_datetime(text)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    return None


def _timed_out(_: Any, scene: Scene) -> Trouble:
    text = f"Gemini did not answer within {scene.timeout:.0f} s: raise --timeout, or map a smaller file."
    return Trouble(_error(text, scene), transient=True)


def _unreachable(error: Any, scene: Scene) -> Trouble:
    if _untrusted(error):
        return _final(
            f"The certificate of {scene.base_url} is not trusted: name your authority in SSL_CERT_FILE, "
            "or check the address (--base-url).",
            scene,
        )
    text = (
        f"Gemini is not reachable at {scene.base_url} ({_reason(error)}): check the network, the proxy and --base-url."
    )
    return Trouble(_error(text, scene), transient=True)


def _untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _lost(error: Any, scene: Scene) -> Trouble:
    text = f"The connection to Gemini was lost ({_reason(error)}): check the network, and try again."
    return Trouble(_error(text, scene), transient=True)


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:MESSAGE_LIMIT].rstrip(".") or type(error).__name__


def _no_address(error: Any, scene: Scene) -> Trouble:
    return _final(
        f"{scene.base_url!r} is no address of a service ({_reason(error)}): it has to begin with https:// (--base-url).",
        scene,
    )


def _nonsense(error: Any, scene: Scene) -> Trouble:
    return _final(
        f"What {scene.base_url} answered is not what Gemini answers ({type(error).__name__}): "
        "check the address (--base-url), or try again later.",
        scene,
    )


def _not_sent(error: Any, scene: Scene) -> Trouble:
    return _final(
        f"The request to Gemini could not be made ({_reason(error)}): check --model and --base-url, "
        "or use --mapper local.",
        scene,
    )


def _short_lived_key(_: Any, scene: Scene) -> Trouble:
    return _final(
        f"The API key is a short-lived token, which Gemini takes for live talks only: check {scene.variables}, "
        f"or make a key at {KEYS_PAGE}.",
        scene,
    )


def _not_installed(error: Any, scene: Scene) -> Trouble:
    return _final(
        f"The Gemini SDK does not load ({_reason(error)}): pip install --force-reinstall google-genai, "
        "and unset GOOGLE_GENAI_HTTP_CLIENT.",
        scene,
    )


def _file_changed(_: Any, scene: Scene) -> Trouble:
    return _final("The file changed while it was uploaded to Gemini: wait until it is whole, and try again.", scene)
