"""What the exceptions of the Gemini SDK and its transport mean: one table, one sentence each."""

from __future__ import annotations

import functools
import importlib
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from citekit.adapters.libraries.google_genai.statuses import (
    KEYS_PAGE,
    MESSAGE_LIMIT,
    Scene,
    Trouble,
    final,
    refused,
    told,
)
from citekit.adapters.libraries.response_limits import AnswerLimitError
from citekit.domain.errors import CiteKitError

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
        errors.APIError: refused,
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
        AnswerLimitError: _endless,
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


def _timed_out(_: Any, scene: Scene) -> Trouble:
    text = f"Gemini sent nothing for {scene.timeout:g} s: raise --timeout, or map a smaller file."
    return Trouble(told(text, scene), transient=True, timed_out=True)


def _unreachable(error: Any, scene: Scene) -> Trouble:
    if _untrusted(error):
        return final(
            f"The certificate of {scene.base_url} is not trusted: name your authority in SSL_CERT_FILE, "
            "or check the address (--base-url).",
            scene,
        )
    text = (
        f"Gemini is not reachable at {scene.base_url} ({_reason(error)}): check the network, the proxy and --base-url."
    )
    return Trouble(told(text, scene), transient=True)


def _untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _lost(error: Any, scene: Scene) -> Trouble:
    text = f"The connection to Gemini was lost ({_reason(error)}): check the network, and try again."
    return Trouble(told(text, scene), transient=True)


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:MESSAGE_LIMIT].rstrip(".") or type(error).__name__


def _no_address(error: Any, scene: Scene) -> Trouble:
    return final(
        f"{scene.base_url!r} is no address of a service ({_reason(error)}): it has to begin with https:// (--base-url).",
        scene,
    )


def _nonsense(error: Any, scene: Scene) -> Trouble:
    return final(
        f"What {scene.base_url} answered is not what Gemini answers ({type(error).__name__}): "
        "check the address (--base-url), or try again later.",
        scene,
    )


def _not_sent(error: Any, scene: Scene) -> Trouble:
    return final(
        f"The request to Gemini could not be made ({_reason(error)}): check --model and --base-url, "
        "or use --mapper local.",
        scene,
    )


def _short_lived_key(_: Any, scene: Scene) -> Trouble:
    return final(
        f"The API key is a short-lived token, which Gemini takes for live talks only: check {scene.variables}, "
        f"or make a key at {KEYS_PAGE}.",
        scene,
    )


def _not_installed(error: Any, scene: Scene) -> Trouble:
    return final(
        f"The Gemini SDK does not load ({_reason(error)}): pip install --force-reinstall google-genai, "
        "and unset GOOGLE_GENAI_HTTP_CLIENT.",
        scene,
    )


def _endless(error: Any, scene: Scene) -> Trouble:
    return final(
        f"What {scene.base_url} answered was given up ({_reason(error)}): check the address (--base-url), "
        "or choose another model (--model).",
        scene,
    )


def _file_changed(_: Any, scene: Scene) -> Trouble:
    return final("The file changed while it was uploaded to Gemini: wait until it is whole, and try again.", scene)
