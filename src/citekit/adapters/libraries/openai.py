"""Configures the `openai` SDK, which is imported on first use, and classifies its exceptions.

The SDK's environment variables for organization, project, base URL, and extra headers have no effect here.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import frozen

from citekit.adapters.libraries.model_files import imported
from citekit.adapters.libraries.response_limits import exceeded_limit, limit_body
from citekit.adapters.libraries.service_keys import without_key
from citekit.adapters.libraries.trusted_certificates import trusted_certificates

if TYPE_CHECKING:
    from openai import OpenAI

DEFAULT_URL = "https://api.openai.com/v1"
PLACEHOLDER = "no-key"
"""The key sent to servers that do not need one. The SDK requires a key."""

CONNECT_SECONDS = 10.0
"""Maximum time to connect, in seconds. A running server usually answers much sooner."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class FailureKind(StrEnum):
    """The kinds of failures that SDK exceptions represent."""

    STATUS = "status"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"
    SETUP = "setup"


@frozen(kw_only=True)
class OpenAiFailure:
    """A failed request: the HTTP `status`, if any, and the service's `code`, `param`, and `message`.

    `retry_after` is in seconds. `lasting` means that the connection fails for a permanent reason, such as an untrusted
    certificate.
    """

    kind: FailureKind
    status: int | None = None
    code: str = ""
    param: str = ""
    message: str = ""
    retry_after: float | None = None
    lasting: bool = False

    @property
    def words(self) -> str:
        """The service's code, parameter, and the beginning of its message in lowercase, for searching."""
        return f"{self.code} {self.param} {self.message}"[:_SEARCHED].lower()


_SEARCHED = 20_000
"""The maximum number of characters of an error that are searched, because a server can send megabytes."""


def connect(key: str | None, base_url: str | None, timeout: float) -> OpenAI:
    """Return a client for the service at `base_url` (None: OpenAI's own). The SDK's automatic retries are off.

    `timeout` limits each wait for data, in seconds. For a server on this computer, proxy variables are ignored. Raise
    `DriverMissing` if the SDK is not installed, or `OSError` if the certificates cannot be read.
    """
    openai = imported("openai", "Using OpenAI or a compatible server", "openai")
    limits = openai.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
    url = base_url or DEFAULT_URL
    local = urlsplit(url).hostname in _LOOPBACK
    transport = openai.DefaultHttpxClient(
        timeout=limits,
        trust_env=not local,
        verify=trusted_certificates(environment=not local or urlsplit(url).scheme == "https"),
        # A redirect would send the whole document to a host that the user did not choose.
        follow_redirects=False,
        event_hooks={"response": [limit_body]},
    )
    client: OpenAI = openai.OpenAI(
        api_key=key or PLACEHOLDER,
        admin_api_key="",
        webhook_secret="",
        base_url=url,
        timeout=limits,
        max_retries=0,
        http_client=transport,
    )
    client.organization = client.project = None
    client._custom_headers = {}  # from OPENAI_CUSTOM_HEADERS, which could override the key
    return client


def table() -> dict[type[BaseException], FailureKind]:
    """Return the kind of failure for each type of exception of the SDK and its HTTP library, and for each one that is
    raised while a response is read.
    """
    openai = importlib.import_module("openai")
    httpx = importlib.import_module("httpx2")
    status = (
        openai.APIStatusError,
        openai.BadRequestError,
        openai.AuthenticationError,
        openai.OAuthError,
        openai.PermissionDeniedError,
        openai.NotFoundError,
        openai.ConflictError,
        openai.UnprocessableEntityError,
        openai.RateLimitError,
        openai.InternalServerError,
    )
    unreadable = (
        openai.APIError,
        openai.APIResponseValidationError,
        openai.LengthFinishReasonError,
        openai.ContentFilterFinishReasonError,
        json.JSONDecodeError,
        UnicodeError,
        RecursionError,
        OverflowError,  # a number with hundreds of digits, which the SDK converts
    )
    setup = (
        openai.OpenAIError,
        openai.InvalidWebhookSignatureError,
        openai.WebSocketConnectionClosedError,
        openai.WebSocketQueueFullError,
        httpx.InvalidURL,
    )
    return {
        **dict.fromkeys(status, FailureKind.STATUS),
        **dict.fromkeys(unreadable, FailureKind.UNREADABLE),
        **dict.fromkeys(setup, FailureKind.SETUP),
        openai.APIConnectionError: FailureKind.UNREACHABLE,
        httpx.HTTPError: FailureKind.UNREACHABLE,
        openai.APITimeoutError: FailureKind.TIMEOUT,
        httpx.TimeoutException: FailureKind.TIMEOUT,
    }


def classify(error: BaseException, secret: str | None = None) -> OpenAiFailure | None:
    """Return the failure of a request that `error` represents; None if the error has another cause.

    `secret`, the API key, is redacted in `error` itself, and thus in a message of the service.
    """
    known = table()
    limit = exceeded_limit(error)
    if limit is not None:
        return OpenAiFailure(kind=FailureKind.UNREADABLE, message=str(limit))
    kind = next((known[parent] for parent in type(error).__mro__ if parent in known), None)
    if kind is None:
        return None
    _redact_error(error, secret)
    body = getattr(error, "body", None)
    if kind is FailureKind.UNREADABLE and isinstance(body, Mapping) and body.get("message"):
        return failure_in_body(body, secret)  # an error in the middle of a stream
    response = getattr(error, "response", None)
    return OpenAiFailure(
        kind=kind,
        status=getattr(error, "status_code", None),
        code=" ".join(filter(None, (_field(body, "code"), _field(body, "type")))),
        param=_field(body, "param"),
        message=without_key(_message(body) if kind is FailureKind.STATUS else _cause(error), secret),
        retry_after=None if response is None else retry_after(response.headers),
        lasting=kind is FailureKind.UNREACHABLE and _is_permanent(error),
    )


def failure_in_body(body: Any, secret: str | None = None) -> OpenAiFailure:
    """Return the failure in `body`, the `error` in a response with status 200 (as from OpenRouter) or in a stream.

    `secret`, the API key, is redacted in the message.
    """
    code = body.get("code") if isinstance(body, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    message = without_key(_message(body), secret)
    return OpenAiFailure(kind=FailureKind.STATUS if status else FailureKind.UNREADABLE, status=status, message=message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the delay in seconds in `retry-after-ms` or `Retry-After` (RFC 9110); None if there is no valid one."""
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if seconds >= 0:  # also False for "nan"
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _field(body: object, name: str) -> str:
    value = body.get(name) if isinstance(body, Mapping) else None
    return str(value) if isinstance(value, str | int) else ""


def _message(body: object) -> str:
    """Return the error message in the body of a response; "" if the body is a web page."""
    if isinstance(body, Mapping):
        found = next((body[name] for name in ("message", "detail", "error") if body.get(name)), "")
        return _message(found) if isinstance(found, Mapping | list) else str(found)
    if isinstance(body, list):
        return _message(body[0]) if body else ""
    text = str(body or "").strip()
    return "" if text.startswith("<") else text


def _cause(error: BaseException) -> str:
    """Return the innermost cause of a failed connection, which the SDK's message omits."""
    seen = error
    while seen.__cause__ is not None or seen.__context__ is not None:
        seen = seen.__cause__ or seen.__context__ or seen
    return str(seen) or type(seen).__name__


def _is_permanent(error: BaseException) -> bool:
    reason = f"{_cause(error)} {type(error.__cause__).__name__}".lower()
    return any(word in reason for word in ("certificate", "unsupportedprotocol", "illegal", "invalidurl"))


def _redact_error(error: BaseException, secret: str | None) -> None:
    """Replace the API key, which a server may repeat, in the text and the attributes of `error`."""
    if not secret:
        return
    error.args = tuple(without_key(part, secret) if isinstance(part, str) else part for part in error.args)
    for name, value in list(vars(error).items()):
        if isinstance(value, str):
            setattr(error, name, without_key(value, secret))
        elif isinstance(value, dict | list):
            setattr(error, name, json.loads(without_key(json.dumps(value, ensure_ascii=False), secret)))
