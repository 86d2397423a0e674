"""Verifies the JSON Web Tokens (RFC 7519, RFC 9068) of one issuer with the keys that it publishes (RFC 7517)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import jwt

from citekit.domain.errors import IssuerUnavailable, RequestRefused, TokenInvalid
from citekit.domain.subject import Claims

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""The accepted signature algorithms, all asymmetric. With `none` or HMAC, anyone could sign (RFC 8725, section 3.1)."""

LEEWAY = 30.0
"""The tolerated difference between clocks, in seconds."""

FRESH = 3600.0
"""The time in seconds after which keys are fetched again. If that fails, they are used for up to 24 times as long."""

PAUSE = 30.0
"""The minimum time in seconds between two attempts to fetch the keys."""

TIMEOUT = 5.0
_DOCUMENT_LIMIT = 2**20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Issuer:
    """The issuer with the URL `url`. Tokens must be for `audience`. Thread-safe.

    The URL of its keys is `jwks` (None: in its metadata, see OpenID Connect Discovery 1.0 or RFC 8414). The constructor
    raises `RequestRefused` for a malformed URL, and for a URL without TLS, except on this computer.
    """

    def __init__(self, url: str, audience: str, jwks: str | None = None) -> None:
        for each in filter(None, (url, jwks)):
            _check(each)
        self.url, self.audience, self._jwks = url, audience, jwks
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched = self._tried = -FRESH
        self._lock = threading.Lock()

    def verify(self, token: str) -> Claims:
        """See `TokenIssuer.verify`.

        If the keys cannot be fetched, known keys that are less than a day old are used instead.
        """
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise TokenInvalid(f"The signature algorithm {str(header.get('alg'))[:20]!r} is not accepted.")
            key = self._key(header.get("kid"))
            claims = jwt.decode(
                token,
                key.key,
                algorithms=[header["alg"]],
                audience=self.audience,
                issuer=self.url,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise TokenInvalid("The token has expired.") from error
        except jwt.InvalidAudienceError as error:
            raise TokenInvalid("The audience of the token is not this server.") from error
        except jwt.InvalidIssuerError as error:
            raise TokenInvalid(f"The issuer of the token is not {self.url}.") from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise TokenInvalid("The token is not valid.") from error
        return Claims(str(claims["sub"]), _scopes(claims), float(claims["exp"]))

    def _key(self, name: object) -> jwt.PyJWK:
        with self._lock:
            now = time.monotonic()
            is_known = name in self._keys or (name is None and len(self._keys) == 1)
            if (now - self._fetched > FRESH or not is_known) and now - self._tried > PAUSE:
                self._tried = now
                self._fetch(now)
            if not self._keys:
                option, address = ("--issuer", self.url) if self._jwks is None else ("--jwks", self._jwks)
                raise IssuerUnavailable(
                    f"No keys of the issuer {self.url} are available. Check that {option} is correct and that this server "
                    f"can reach {address}."
                )
            if name is None and len(self._keys) == 1:
                return next(iter(self._keys.values()))
            found = self._keys.get(name) if isinstance(name, str) else None
        if found is None:
            raise TokenInvalid("The token does not name a known key of the issuer.")
        return found

    def _fetch(self, now: float) -> None:
        """Fetch the keys. If that fails, keep the previous keys until they are a day old."""
        try:
            url = self._jwks or self._keys_url()
            listed = _fetched(url)["keys"]
            keys: dict[str, jwt.PyJWK] = {}
            for plain in listed:
                if plain.get("use", "sig") == "sig" and plain.get("kty") != "oct":
                    key = jwt.PyJWK(plain)
                    keys[str(plain.get("kid", len(keys)))] = key
        except (OSError, URLError, ValueError, KeyError, TypeError, AttributeError, jwt.PyJWTError, RequestRefused):
            if now - self._fetched > 24 * FRESH:
                self._keys = {}
            return
        self._keys, self._fetched = keys, now

    def _keys_url(self) -> str:
        parts = urlsplit(self.url)
        base = self.url.rstrip("/")
        found: Mapping[str, Any] = {}
        for url in (
            f"{base}/.well-known/openid-configuration",
            f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path.rstrip('/')}",
        ):
            try:
                found = _fetched(url)
                break
            except (OSError, ValueError):
                continue
        if found.get("issuer") != self.url:
            raise ValueError(f"No metadata was found that names the issuer {self.url}.")
        jwks = str(found["jwks_uri"])
        _check(jwks)
        return jwks


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Refuse redirections, which could lead to servers inside the network."""
        return


_opener = build_opener(_NoRedirects, ProxyHandler())


def _fetched(url: str) -> dict[str, Any]:
    request = Request(url, headers={"accept": "application/json"})  # noqa: S310 - checked by _check
    with _opener.open(request, timeout=TIMEOUT) as answer:
        data = answer.read(_DOCUMENT_LIMIT + 1)
    found = json.loads(data) if len(data) <= _DOCUMENT_LIMIT else None
    if not isinstance(found, dict):
        raise ValueError(  # noqa: TRY004 - of the same kind as malformed JSON
            f"{url} did not return a JSON object of at most {_DOCUMENT_LIMIT} bytes."
        )
    return found


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not is_safe or not parts.hostname:
        raise RequestRefused(
            f"{url} is not a valid https URL. Without HTTPS, somebody else could replace the keys of the issuer."
        )


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes in `scope` (RFC 9068), or else in `scp`, which some issuers use."""
    given = claims.get("scope", claims.get("scp", ""))
    words = given.split() if isinstance(given, str) else given
    return frozenset(word for word in words if isinstance(word, str)) if isinstance(words, list) else frozenset()
