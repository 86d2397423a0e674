"""The SDK of OpenAI: its exceptions are all known, its environment stays outside, the key stays inside."""

from __future__ import annotations

import email.utils
import logging
import time

import openai
import pytest

from citekit.adapters.libraries import openai as driver
from citekit.adapters.mappers.llm.messages import Question, TextPart
from citekit.adapters.mappers.llm.openai.failures import Endpoint, verdict
from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import silent
from tests.services.openai_server import KEY, OpenAiServer, Step, error

QUESTION = Question("You map files.", (TextPart("A text."),), {"type": "object", "properties": {}})


def test_every_exception_that_the_sdk_exports_is_in_the_table() -> None:
    exported = {
        value
        for name, value in list(vars(openai).items())
        if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
    }

    unmapped = exported - driver.table().keys()

    assert set() == unmapped


def test_an_exception_of_another_library_is_no_trouble_of_the_sdk() -> None:
    assert driver.classify(KeyError("x")) is None


def test_nothing_of_the_environment_that_the_sdk_reads_reaches_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-environment",
        "OPENAI_ADMIN_KEY": "sk-admin-environment",
        "OPENAI_ORG_ID": "org-environment",
        "OPENAI_PROJECT_ID": "proj-environment",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/environment",
        "OPENAI_WEBHOOK_SECRET": "secret-environment",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-environment\nX-Extra: environment",
        "HTTP_PROXY": "http://127.0.0.1:9/environment",
        "ALL_PROXY": "http://127.0.0.1:9/environment",
    }.items():
        monkeypatch.setenv(name, value)

    with OpenAiServer() as server, OpenAiService(KEY, base_url=server.url).session() as session:
        session.ask(QUESTION, silent)

    (request,) = server.requests
    assert "environment" not in str(request)
    assert f"Bearer {KEY}" == request.headers["authorization"]


def test_the_own_retries_of_the_sdk_are_off() -> None:
    with driver.connect(KEY, None, 300) as client:
        assert 0 == client.max_retries
        assert "https://api.openai.com/v1/" == str(client.base_url)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_parsed_as_the_standard_defines(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds == driver.retry_after(headers)


def test_a_wait_until_a_date_is_the_time_until_then() -> None:
    waited = driver.retry_after({"retry-after": email.utils.formatdate(time.time() + 1000, usegmt=True)})

    assert waited is not None
    assert 0 < waited <= 1001


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no such thing", "code": None}}, "no such thing"),
        ({"error": "no such thing"}, "no such thing"),
        ({"detail": [{"msg": "x", "message": "no such thing"}]}, "no such thing"),
        ({"detail": "no such thing"}, "no such thing"),
        ({"object": "error", "message": "no such thing", "code": 400}, "no such thing"),
        ("no such thing", "no such thing"),
    ],
)
def test_an_error_is_read_in_whatever_form_a_server_gives_it(body: object, message: str) -> None:
    with (
        OpenAiServer([Step(status=409, body=body)]) as server,
        OpenAiService(KEY, base_url=server.url).session() as session,
        pytest.raises(MapperUnavailable, match=rf"\(HTTP 409\): {message}"),
    ):
        session.ask(QUESTION, silent)


@pytest.mark.parametrize("status", [400, 401, 403, 409, 200])
def test_the_key_is_in_no_error_no_cause_no_log_and_no_repr(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = error(status, f"You sent the key {KEY}", f"bad {KEY}")
    step = Step(body={"error": {"message": f"bad key {KEY}", "code": 403}}) if status == 200 else echo

    with OpenAiServer([step] * 2) as server:
        service = OpenAiService(KEY, base_url=server.url)
        with service.session() as session, pytest.raises(MapperUnavailable) as raised:
            session.ask(QUESTION, silent)
        shown = repr((service, session))

    seen: BaseException | None = raised.value
    prompt_text = [caplog.text, shown]
    while seen is not None:
        prompt_text += [str(seen), repr(seen), repr(vars(seen))]
        seen = seen.__cause__ or seen.__context__
    assert not [text for text in prompt_text if KEY in text]


@pytest.mark.parametrize("key", ["sk-with space", "sk-\nnewline", "schlüssel", "sk-“quoted”"])
def test_a_key_that_can_be_none_is_refused_before_it_is_sent_and_not_shown(key: str) -> None:
    with pytest.raises(MapperUnavailable, match="OPENAI_API_KEY") as raised, OpenAiService(key).session():
        pass

    assert key not in str(raised.value)


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x/v1", "http://", "not a url", "http://host:99999999/v1"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with (
        pytest.raises(MapperUnavailable, match=r"(?i)base.url"),
        OpenAiService(None, base_url=url).session() as session,
    ):
        session.ask(QUESTION, silent)


@pytest.mark.parametrize(("url", "checks"), [(None, False), ("https://models.example/v1", True)])
def test_an_untrusted_certificate_is_said_with_what_to_set_and_is_not_tried_again(
    url: str | None, checks: bool
) -> None:
    words = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"
    failure = driver.OpenAiFailure(kind=driver.FailureKind.UNREACHABLE, message=words, lasting=True)

    found = verdict(Endpoint(model="m", base_url=url, timeout=1, keyed=True), failure)

    assert "is not trusted" in str(found.error)
    assert "Set SSL_CERT_FILE" in str(found.error)
    assert checks == str(found.error).endswith(", or check --base-url.")
    assert not found.transient
