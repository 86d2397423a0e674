"""Translates HTTP statuses and `google.rpc` details of errors of the Gemini API (`APIError`) to messages."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from attrs import field, frozen

from citekit.adapters.libraries.service_keys import without_key
from citekit.adapters.system.retry import TIMED_OUT
from citekit.domain.errors import MapperUnavailable

MODELS_PAGE = "https://ai.google.dev/gemini-api/docs/models"
KEYS_PAGE = "https://aistudio.google.com/apikey"
LIMITS_PAGE = "https://ai.google.dev/gemini-api/docs/rate-limits"

MESSAGE_LIMIT = 300
"""Maximum number of characters that are quoted from a message of the service or of an exception."""


@frozen
class CallContext:
    """The details of a Gemini call that error messages mention.

    `timeout` is in seconds. `variables` names the environment variables that were searched for the key. `suggestion` is
    a model to suggest if the service does not have `model`. `key` is needed only to redact it. `url_setting` names the
    option or variable with the base URL.
    """

    model: str
    base_url: str
    timeout: float
    variables: str
    suggestion: str
    key: str = field(repr=False)
    url_setting: str = "--base-url"


@frozen
class GeminiFailure:
    """A failed Gemini call: the CiteKit error, and whether a retry can help (`transient`).

    `retry_after` is the delay in seconds that the service names, or None. `timed_out` means that no answer came in
    time.
    """

    error: MapperUnavailable
    transient: bool
    retry_after: float | None = None
    timed_out: bool = False


def permanent_failure(text: str, context: CallContext) -> GeminiFailure:
    """Return a failure with the message `text` for a call that a retry cannot fix."""
    return GeminiFailure(error_without_key(text, context), transient=False)


def error_without_key(text: str, context: CallContext) -> MapperUnavailable:
    """Return a `MapperUnavailable` error with `text`, in which the API key is redacted, and `--base-url` replaced by
    the setting with the base URL.
    """
    return MapperUnavailable(without_key(text.replace("--base-url", context.url_setting), context.key))


# Rows: (pattern of the service's reason or message, what happened, what to do, whether a retry can help).

_StatusRow = tuple[str, str, str, bool]

STATUSES: dict[int, tuple[_StatusRow, ...]] = {
    400: (
        ("API_KEY|api key", "refused the API key", "check {variables}, or create a new key at {keys}", False),
        ("ACTIVE state", "has not finished processing the file", "try again later", False),
        (
            "FAILED_PRECONDITION",
            "does not serve this account or country",
            "enable billing for the key's project at {keys}, or use --mapper local",
            False,
        ),
        (
            "token count|number of tokens|too many tokens",
            "rejected the request because it exceeds the token limit of the model '{model}'",
            "choose a model with a larger context (--model), or map a smaller file",
            False,
        ),
        (
            "",
            "did not accept the request",
            "the model '{model}' may not support this type of file; choose another model (--model), or use --mapper local",
            False,
        ),
    ),
    401: (("", "refused the API key", "check {variables}, or create a new key at {keys}", False),),
    403: (
        (
            "",
            "does not permit this request with this API key",
            "check {variables}, and make sure that the key's project can use the Generative Language API and the model "
            "'{model}' ({keys})",
            False,
        ),
    ),
    404: (
        (
            "(?<!/)\\bmodels?\\b",
            "has no model '{model}'",
            "choose another model (--model), such as {suggestion}; all models are listed at {models}",
            False,
        ),
        (
            "/models/",
            "did not find the model '{model}' at {base_url}",
            "check the address (--base-url), or choose another model (--model), such as {suggestion}; all models are listed "
            "at {models}",
            False,
        ),
        ("", "was not found at {base_url}", "check the address (--base-url)", False),
    ),
    408: (("", "did not finish in time", "map a smaller file, or choose another model (--model)", True),),
    413: (("", "rejected the request because it is too large", "map a smaller file, or use --mapper local", False),),
    429: (
        (
            "limit: 0\\b",
            "grants this account no quota for the model '{model}'",
            "choose another model (--model), or enable billing at {keys}",
            False,
        ),
        (
            "PerDay",
            "has no quota left today for the model '{model}'",
            "wait until tomorrow (the quota resets at midnight Pacific time), choose another model (--model), "
            "or raise the quota ({limits})",
            False,
        ),
        (
            "",
            "is rate-limiting this account",
            "wait{wait}, send fewer requests at the same time (--model-concurrency), or raise the quota ({limits})",
            True,
        ),
    ),
    500: (("", "failed", "try again later, or choose another model (--model)", True),),
    502: (("", "is not reachable behind its gateway", "try again later", True),),
    503: (("", "is overloaded or down", "try again later, or choose another model (--model)", True),),
    504: (("", "did not finish in time", "map a smaller file, or choose another model (--model)", True),),
}
"""The rows for each HTTP status; the first matching row applies. For other statuses, see `_STATUS_CLASSES`."""

_STATUS_CLASSES: dict[int, _StatusRow] = {
    3: ("", "answered with a redirect, which is not followed", "check the address {base_url} (--base-url)", False),
    4: ("", "did not accept the request", "choose another model (--model), or use --mapper local", False),
    5: ("", "failed", "try again later, or choose another model (--model)", False),
}


def status_failure(error: Any, context: CallContext) -> GeminiFailure:
    """Return the failure for an `APIError`, by its HTTP status and details."""
    code = int(error.code or 0)
    clues = f"{error.status} {_message(error, context)} {_reasons(error)} {_path(error)}"
    rows = STATUSES.get(code) or (_STATUS_CLASSES.get(code // 100, _STATUS_CLASSES[4]),)
    _, happened, remedy, transient = next(row for row in rows if re.search(row[0], clues, re.IGNORECASE))
    wait = _retry_after(error)
    details = ": ".join(
        part for part in (f"HTTP {code} {error.status or ''}".strip(), _message(error, context)) if part
    )
    filled = f"Gemini {happened} ({{said}}): {remedy}.".format(
        said=details,
        wait="" if wait is None else f" {wait:.0f} s",
        **_placeholders(context),
    )
    return GeminiFailure(error_without_key(filled, context), transient, wait, code in TIMED_OUT)


def _placeholders(context: CallContext) -> dict[str, object]:
    return {
        "model": context.model,
        "base_url": context.base_url,
        "variables": context.variables,
        "suggestion": context.suggestion,
        "keys": KEYS_PAGE,
        "models": MODELS_PAGE,
        "limits": LIMITS_PAGE,
    }


def _message(error: Any, context: CallContext) -> str:
    """Return the service's error message on one line, shortened to `MESSAGE_LIMIT`; "" if it is an HTML page.

    The key is redacted first, because a part of it would not be recognized.
    """
    text = without_key(" ".join(str(error.message or "").split()), context.key)
    if text.startswith("<"):
        return ""
    return (text if len(text) <= MESSAGE_LIMIT else f"{text[: MESSAGE_LIMIT - 3]}...").rstrip(".")


def _path(error: Any) -> str:
    with suppress(AttributeError, RuntimeError):
        return str(error.response.request.url.path)
    return ""


def _details(error: Any) -> list[dict[str, object]]:
    """Return the `google.rpc` details in the body of an error; empty if there are none."""
    plain = error.details
    inner = plain.get("error", plain) if isinstance(plain, dict) else {}
    details = inner.get("details") if isinstance(inner, dict) else None
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _reasons(error: Any) -> str:
    """Return the reasons of an error (`google.rpc.ErrorInfo`) and the IDs of exceeded quotas (`QuotaFailure`)."""
    found = [str(each.get("reason", "")) for each in _details(error)]
    for each in _details(error):
        violations = each.get("violations")
        if isinstance(violations, list):
            found += [str(item.get("quotaId", "")) for item in violations if isinstance(item, dict)]
    return " ".join(found)


def _retry_after(error: Any) -> float | None:
    """Return the retry delay in seconds from `Retry-After` (RFC 9110, 10.2.3) or `google.rpc.RetryInfo`, or None."""
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
