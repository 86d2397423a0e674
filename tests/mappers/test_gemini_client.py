from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import httpx2
import pydantic
import pytest
from google import genai
from google.genai import errors

from citekit.adapters.libraries.google_genai import statuses
from citekit.adapters.libraries.google_genai.errors import explain, table
from citekit.adapters.libraries.google_genai.statuses import STATUSES, CallContext
from citekit.adapters.system.retry import TRANSIENT
from citekit.domain.errors import Cancelled, MapperUnavailable, SourceUnreadable

SCENE = CallContext("a-model", "https://example.org", 300, "GEMINI_API_KEY", "another-model", "AIza-secret")

NOT_USED = ("google.genai._gaos", "google.genai._interactions", "google.genai.tests", "google.genai._test_api_client")
"""The API of interactions, agents and webhooks, which is another client with errors of its own; and the SDK's tests."""


def exceptions() -> set[type[BaseException]]:
    """Every exception class that the SDK and its transport define."""
    found: set[type[BaseException]] = set(classes_of(httpx2))
    for module in pkgutil.iter_modules(genai.__path__, "google.genai."):
        if not module.name.startswith(NOT_USED):
            try:
                found |= set(classes_of(importlib.import_module(module.name)))
            except ImportError:
                continue  # needs an extra of the SDK
    return {
        each
        for each in found
        if each.__module__.startswith(("google.genai", "httpx2"))
        and not each.__module__.startswith(NOT_USED)
        and not issubclass(each, Warning)
    }


def classes_of(module: object) -> Iterator[type[BaseException]]:
    for each in vars(module).values():
        if inspect.isclass(each) and issubclass(each, BaseException):
            yield each


def test_every_exception_of_the_sdk_and_its_transport_is_mapped() -> None:
    found = exceptions()

    assert {"APIError", "ServerError", "ReadTimeout", "UnknownApiResponseError"} <= {each.__name__ for each in found}
    assert [] == [each for each in found if not issubclass(each, tuple(table()))]


SPECIAL: dict[type[BaseException], Exception] = {
    errors.APIError: errors.ServerError(500, {"message": "AIza-secret\nsecond line"}),
    pydantic.ValidationError: pydantic.ValidationError.from_exception_data("AIza-secret\nsecond line", []),
}
"""Exceptions that are not made of a text."""


@pytest.mark.parametrize("kind", table(), ids=lambda kind: kind.__name__)
def test_a_mapped_exception_becomes_one_sentence(kind: type[Exception]) -> None:
    error = SPECIAL.get(kind) or kind.__new__(kind)
    error.args = ("AIza-secret\nsecond line",)

    trouble = explain(error, SCENE)

    assert trouble is not None
    assert str(trouble.error).endswith(".")
    assert "\n" not in str(trouble.error)
    assert "AIza-secret" not in str(trouble.error)


def test_what_is_tried_again_is_what_patience_says() -> None:
    assert {status for status, rows in STATUSES.items() if rows[-1][3]} == TRANSIENT


@pytest.mark.parametrize("error", [Cancelled("x"), MapperUnavailable("x"), SourceUnreadable("x"), OSError("x")])
def test_our_own_errors_go_through(error: Exception) -> None:
    assert explain(error, SCENE) is None


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (400, {"error": {"code": 400, "message": {"not": "text"}, "status": None}}),
        (400, {"error": {"details": [{"violations": [3]}, 4, {"violations": "x"}]}}),
        (418, {"message": "I'm a teapot", "status": "TEAPOT"}),
        (429, {"error": {"details": "none"}}),
        (429, {"error": {"details": [{"retryDelay": "soon"}, {"retryDelay": 5}]}}),
        (503, [{"error": {"code": 503, "message": "x" * 5000, "status": "UNAVAILABLE"}}]),
        (599, {"error": {"message": "{braces} {0} %s", "status": "{model}"}}),
        (302, {}),
        (600, {}),
    ],
)
def test_odd_error_bodies_also_result_in_one_sentence(code: int, body: object) -> None:
    trouble = explain(errors.APIError(code, body), SCENE)

    assert trouble is not None
    assert f"HTTP {code}" in str(trouble.error)
    assert len(str(trouble.error)) < 800


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), (" 0 ", 0.0), ("", None), ("-3", None), ("soon", None), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)],
)
def test_retry_after_is_seconds_or_a_date(text: str, seconds: float | None) -> None:
    assert seconds == statuses._seconds(text)


def test_an_untrusted_certificate_is_not_tried_again() -> None:
    trouble = explain(httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate"), SCENE)

    assert trouble is not None
    assert not trouble.transient
    assert "SSL_CERT_FILE" in str(trouble.error)
