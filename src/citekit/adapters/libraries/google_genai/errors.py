"""Translates exceptions of the Gemini SDK and its HTTP library into CiteKit errors."""

from __future__ import annotations

import functools
import importlib
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from citekit.adapters.libraries.google_genai.client import BASE_URL
from citekit.adapters.libraries.google_genai.statuses import (
    KEYS_PAGE,
    MESSAGE_LIMIT,
    CallContext,
    GeminiFailure,
    error_without_key,
    permanent_failure,
    status_failure,
)
from citekit.adapters.libraries.response_limits import ResponseLimitError
from citekit.adapters.libraries.service_keys import without_key
from citekit.domain.errors import CiteKitError

Meaning = Callable[[Any, CallContext], GeminiFailure]


def explain(error: Exception, context: CallContext) -> GeminiFailure | None:
    """Return the failure that `error` means; None for CiteKit errors and those that are not in `table`."""
    if isinstance(error, CiteKitError):
        return None
    return next((table()[kind](error, context) for kind in type(error).__mro__ if kind in table()), None)


@functools.cache
def table() -> Mapping[type[BaseException], Meaning]:
    """Return, for each exception class that a request with the SDK can raise, the function that explains it."""
    import pydantic
    from google.genai import _api_client, errors

    meanings: dict[type[BaseException], Meaning] = {
        errors.APIError: status_failure,
        errors.UnknownApiResponseError: _not_gemini,
        errors.ContinuationInterruptedError: _not_gemini,
        _api_client.EphemeralTokenAPIKeyError: _short_lived_key,
        pydantic.ValidationError: _not_gemini,
        json.JSONDecodeError: _not_gemini,
        UnicodeDecodeError: _not_gemini,
        KeyError: _not_gemini,
        AttributeError: _not_gemini,
        TypeError: _not_gemini,
        ValueError: _not_sent,
        ImportError: _not_installed,
        EOFError: _file_changed,
        ResponseLimitError: _limit_exceeded,
    }
    for transport in _transports():
        meanings |= _transport_meanings(transport)
    return meanings


def _transports() -> Iterator[ModuleType]:
    """Yield the installed HTTP libraries of the SDK: `httpx2` and `httpx`.

    `GOOGLE_GENAI_HTTP_CLIENT` selects one of them.
    """
    for name in ("httpx2", "httpx"):
        with suppress(ImportError):
            yield importlib.import_module(name)


def _transport_meanings(httpx: Any) -> dict[type[BaseException], Meaning]:
    return {
        httpx.TimeoutException: _timed_out,
        httpx.ConnectTimeout: _unreachable,
        httpx.ConnectError: _unreachable,
        httpx.ProxyError: _unreachable,
        httpx.TransportError: _lost,
        httpx.LocalProtocolError: _not_sent,
        httpx.UnsupportedProtocol: _invalid_scheme,
        httpx.InvalidURL: _invalid_address,
        httpx.HTTPError: _not_gemini,
        httpx.StreamError: _not_gemini,
        httpx.CookieConflict: _not_gemini,
    }


def _timed_out(_: Any, context: CallContext) -> GeminiFailure:
    text = f"Gemini sent no data for {context.timeout:g} s; increase --timeout, or map a smaller file."
    return GeminiFailure(error_without_key(text, context), transient=True, timed_out=True)


def _unreachable(error: Any, context: CallContext) -> GeminiFailure:
    if _untrusted(error):
        return permanent_failure(
            f"The certificate of {context.base_url} is not trusted; set SSL_CERT_FILE to the file with the certificate of "
            f"your certificate authority{'' if _is_own(context) else ', or check the address (--base-url)'}.",
            context,
        )
    check = "the network and the proxy" if _is_own(context) else "the network, the proxy, and --base-url"
    text = f"Gemini is not reachable at {context.base_url} ({_reason(error, context)}); check {check}."
    return GeminiFailure(error_without_key(text, context), transient=True)


def _is_own(context: CallContext) -> bool:
    """Return whether the request goes to Google's own server, so that there is no setting to check."""
    return context.base_url == BASE_URL


def _untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _lost(error: Any, context: CallContext) -> GeminiFailure:
    text = f"The connection to Gemini was lost ({_reason(error, context)}); check the network, and try again."
    return GeminiFailure(error_without_key(text, context), transient=True)


def _reason(error: BaseException, context: CallContext) -> str:
    return without_key(" ".join(str(error).split()), context.key)[:MESSAGE_LIMIT].rstrip(".") or type(error).__name__


def _invalid_scheme(error: Exception, context: CallContext) -> GeminiFailure:
    return permanent_failure(
        f"{context.base_url!r} is not a valid service address ({_reason(error, context)}); it must start with "
        "https:// or http:// (--base-url).",
        context,
    )


def _invalid_address(error: Exception, context: CallContext) -> GeminiFailure:
    return permanent_failure(
        f"{context.base_url!r} is not a valid service address ({_reason(error, context)}); check it (--base-url).",
        context,
    )


def _not_gemini(error: Any, context: CallContext) -> GeminiFailure:
    check = "the network and the proxy" if _is_own(context) else "the address (--base-url)"
    return permanent_failure(
        f"The response from {context.base_url} is not a Gemini response ({type(error).__name__}); "
        f"check {check}, or try again later.",
        context,
    )


def _not_sent(error: Any, context: CallContext) -> GeminiFailure:
    if "integer string conversion" in str(error):  # a number with thousands of digits, so in the response
        return _not_gemini(error, context)
    return permanent_failure(
        f"The request to Gemini could not be created ({_reason(error, context)}); check --model and --base-url, "
        "or use --mapper local.",
        context,
    )


def _short_lived_key(_: Any, context: CallContext) -> GeminiFailure:
    return permanent_failure(
        f"The API key is an ephemeral token, which works only with the Gemini Live API; check {context.variables}, "
        f"or create a key at {KEYS_PAGE}.",
        context,
    )


def _not_installed(error: Any, context: CallContext) -> GeminiFailure:
    return permanent_failure(
        f"The Gemini SDK cannot be loaded ({_reason(error, context)}); run pip install --force-reinstall google-genai, "
        "and unset GOOGLE_GENAI_HTTP_CLIENT.",
        context,
    )


def _limit_exceeded(error: Any, context: CallContext) -> GeminiFailure:
    check = "" if _is_own(context) else "check the address (--base-url), or "
    return permanent_failure(
        f"The response from {context.base_url} was rejected ({_reason(error, context)}); {check}choose another model "
        "(--model).",
        context,
    )


def _file_changed(_: Any, context: CallContext) -> GeminiFailure:
    return permanent_failure(
        "The file changed while it was being uploaded to Gemini; wait until it is complete, and try again.", context
    )
