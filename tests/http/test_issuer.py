"""JSON Web Tokens of an issuer: a real server, and an issuer on this computer whose tokens are also forged."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from attrs import define, field
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.subject import ADMIN, Subject
from tests.http.conftest import HttpServer, Start

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX")

AUDIENCE = "https://cite.test/mcp"


@define
class TestIssuer:
    """An issuer that answers with its metadata and keys."""

    __test__ = False
    server: ThreadingHTTPServer
    key: rsa.RSAPrivateKey = field(factory=lambda: rsa.generate_private_key(65537, 2048))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def documents(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"},
            "/jwks": {"keys": [{**public, "kid": "one", "use": "sig"}]},
        }

    def token(self, key: Any = None, algorithm: str = "RS256", kid: str = "one", **claims: Any) -> str:
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "alice@id",
            "exp": time.time() + 600,
            "scope": "read ingest",
            **claims,
        }
        plain = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(plain, key or self.key, algorithm, headers={"kid": kid})


@pytest.fixture(scope="module")
def issuer() -> Iterator[TestIssuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = made.documents().get(self.path)
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found or {}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    made = TestIssuer(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()


def known(home: Path, issued: str = "alice@id", scope: str = ADMIN) -> None:
    subject = Subject(name="alice", home=home / ".citekit_subjects" / "alice", scopes=frozenset({scope}))
    subjects_of(bootstrap(home=home)).add(subject, issued)


@pytest.fixture(scope="module")
def trusting(start: Start, issuer: TestIssuer, tmp_path_factory: pytest.TempPathFactory) -> HttpServer:
    home = tmp_path_factory.mktemp("trusting")
    known(home)
    return start(home, "--issuer", issuer.url, "--audience", AUDIENCE)


def test_the_scopes_of_a_token_and_of_its_subject_are_combined(trusting: HttpServer, issuer: TestIssuer) -> None:
    def tools(token: str) -> set[str]:
        return {each["name"] for each in json.loads(trusting.post(token, "tools/list").text)["result"]["tools"]}

    assert "ingest" in tools(issuer.token())
    assert "ingest" not in tools(issuer.token(scope="read"))
    assert "ingest" in tools(issuer.token(scope=None, scp=["admin"]))
    none = trusting.post(issuer.token(scope="profile"), "tools/list")
    assert none.status_code == 403
    assert 'error="insufficient_scope"' in none.headers["www-authenticate"]


def test_the_protected_resource_names_its_issuer(trusting: HttpServer, issuer: TestIssuer) -> None:
    refused = trusting.post(None, "tools/list")
    url = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
    metadata = httpx2.get(url).json()

    assert metadata["authorization_servers"] == [issuer.url]
    assert metadata["resource"] == f"{trusting.url}/mcp"
    assert metadata["scopes_supported"] == ["read", "ingest", "admin"]


def _signed_with(secret: bytes, body: str) -> str:
    """A token with an HMAC, which PyJWT refuses to make with a public key."""
    head = (
        base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "one"}).encode()).decode().rstrip("=")
    )
    code = hmac.new(secret, f"{head}.{body}".encode(), "sha256").digest()
    return f"{head}.{body}.{base64.urlsafe_b64encode(code).decode().rstrip('=')}"


@pytest.mark.long
def test_forged_and_foreign_tokens_are_refused(trusting: HttpServer, issuer: TestIssuer) -> None:
    other = rsa.generate_private_key(65537, 2048)
    public = issuer.key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    head, body, signature = issuer.token().split(".")
    admin = base64.urlsafe_b64encode(json.dumps({"sub": "root"}).encode()).decode().rstrip("=")
    forged = {
        "alg none": jwt.encode(jwt.decode(issuer.token(), options={"verify_signature": False}), "", "none"),
        "HMAC with the public key": _signed_with(public, body),
        "another key": issuer.token(key=other),
        "an unknown key": issuer.token(kid="two"),
        "expired": issuer.token(exp=time.time() - 120),
        "no expiry": issuer.token(exp=None),
        "another audience": issuer.token(aud="https://other.test"),
        "no audience": issuer.token(aud=None),
        "another issuer": issuer.token(iss="https://evil.test"),
        "an unknown subject": issuer.token(sub="mallory@id"),
        "no subject": issuer.token(sub=None),
        "not yet valid": issuer.token(nbf=time.time() + 600),
        "changed": f"{head}.{admin}.{signature}",
        "cut": f"{head}.{body}.",
        "nonsense": "a.b.c",
    }

    answers = {name: trusting.post(token, "tools/list") for name, token in forged.items()}

    assert dict.fromkeys(forged, 401) == {name: answer.status_code for name, answer in answers.items()}
    assert answers["expired"].json()["error_description"] == "The token has expired."
    assert "audience" in answers["another audience"].json()["error_description"]
    assert "not known" in answers["an unknown subject"].json()["error_description"]


@pytest.mark.long
def test_an_issuer_that_does_not_answer_is_a_temporary_error(start: Start, issuer: TestIssuer, tmp_path: Path) -> None:
    known(tmp_path, "*")
    server = start(tmp_path, "--issuer", issuer.url, "--audience", AUDIENCE, "--jwks", "http://127.0.0.1:9/jwks")

    answer = server.post(issuer.token(), "tools/list")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"
    assert answer.json()["error"] == "temporarily_unavailable"
