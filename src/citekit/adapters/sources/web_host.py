"""Fetches files by HTTPS from hosts that the user named.

A connection is made only to a public address, which is checked after the name of the host was resolved and for each
redirect, so that neither a link nor a name leads into the user's network. Proxies, credentials, and cookies are not
used.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from attrs import field, frozen

from citekit.domain.errors import SourceUnreadable

IpAddress: TypeAlias = IPv4Address | IPv6Address

REDIRECTS = 5
"""The maximum number of redirects that are followed."""

SECONDS = 30.0
"""The maximum time in seconds to connect, and to wait for the next bytes."""

LONGEST = 3600.0
"""The maximum time for one file, in seconds."""

_BLOCK = 1 << 20
_NAT64 = IPv6Network("64:ff9b::/96")
_SAFE = "%/:?[]@!$&'()*+,;=~-._"


def is_public(address: IpAddress) -> bool:
    """Return whether the address belongs to the public internet.

    If an IPv6 address contains an IPv4 address, only the latter counts.
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


@frozen
class WebHost:
    """The files of one host. `url` is `https://HOST` or `https://HOST:PORT`.

    Requests, including redirects, are sent only to `hosts`.
    """

    url: str
    hosts: frozenset[str]
    permitted: Callable[[IpAddress], bool] = is_public
    trust: Callable[[], ssl.SSLContext] = field(default=ssl.create_default_context)

    def head(self, key: str) -> tuple[int, str] | None:
        """Return the size in bytes (-1 if unknown) and the ETag (or "") of the file, or None if it does not exist.

        Raise `SourceUnreadable` if the host or a redirect cannot be used.
        """
        with closing(self._answer("HEAD", key)) as answer:
            if answer.status in (404, 410):
                return None
            if answer.status != 200:  # some servers do not support HEAD; the next request shows what is wrong
                return -1, ""
            size = answer.headers.get("Content-Length") or ""
            return int(size) if size.isdigit() else -1, answer.headers.get("ETag") or ""

    def blocks(self, key: str, most: int) -> Iterator[bytes]:
        """Yield the bytes of the file. Raise `SourceUnreadable` if it cannot be read or has more than `most` bytes."""
        end, count = time.monotonic() + LONGEST, 0
        with closing(self._answer("GET", key)) as answer:
            if answer.status != 200:
                raise self._unreadable(key, _refusal(answer.status))
            if (answer.headers.get("Content-Encoding") or "identity") != "identity":
                raise self._unreadable(key, "the server sends it only compressed; download the file yourself")
            try:
                while block := answer.read(_BLOCK):
                    count += len(block)
                    if count > most:
                        raise self._unreadable(key, f"it has more than {most:,} bytes; download the file yourself")
                    if time.monotonic() > end:
                        raise self._unreadable(key, "the server is too slow; download the file yourself")
                    yield block
            except (OSError, HTTPException) as error:
                raise self._unreadable(key, f"the connection was lost ({_short(error)}); try again") from error
            if answer.length:  # the connection ended before all bytes came
                raise self._unreadable(key, "the connection was lost; try again")

    def _answer(self, method: str, key: str) -> HTTPResponse:
        """Return the response to a request, after redirects."""
        url = f"{self.url}/{key}"
        for _ in range(REDIRECTS + 1):
            answer = self._request(method, url, key)
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            answer.close()
            url = urljoin(url, answer.headers.get("Location") or "")
        raise self._unreadable(key, f"the server redirects more than {REDIRECTS} times")

    def _request(self, method: str, url: str, key: str) -> HTTPResponse:
        parts = urlsplit(url)
        if parts.scheme != "https":
            raise self._unreadable(
                key, f"the server redirects to {parts.scheme}://, but CiteKit follows redirects only to https://"
            )
        if "@" in parts.netloc:
            raise self._unreadable(
                key, "the server redirects to an address that contains a user name, which CiteKit does not follow"
            )
        if parts.netloc.lower() not in self.hosts:
            is_redirect = url != f"{self.url}/{key}"
            what = f"the server redirects to {parts.netloc}" if is_redirect else "its host is not permitted"
            raise self._unreadable(key, f"{what}. To permit that, add --allow-host {parts.netloc} to citekit ingest")
        target = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
        try:
            connection = _Connection(parts.hostname or "", parts.port or 443, self.trust(), self.permitted)
            connection.request(method, target, headers={"Accept-Encoding": "identity", "User-Agent": "citekit"})
            return connection.getresponse()
        except _PrivateError as error:
            raise self._unreadable(
                key,
                f"{parts.netloc} has no public address. CiteKit fetches no files from private networks; download "
                "the file yourself",
            ) from error
        except (OSError, HTTPException, ValueError) as error:
            raise self._unreadable(key, f"the request to {parts.netloc} failed ({_short(error)})") from error

    def _unreadable(self, key: str, why: str) -> SourceUnreadable:
        return SourceUnreadable(f"Cannot read {self.url}/{key.partition('?')[0]}: {why}.")


class _PrivateError(Exception):
    """The host has only addresses to which no connection may be made."""


class _Connection(HTTPSConnection):
    """A connection to an address that was checked, because another look-up of the name could return another address."""

    def __init__(self, host: str, port: int, trust: ssl.SSLContext, permitted: Callable[[IpAddress], bool]) -> None:
        super().__init__(host, port, timeout=SECONDS, context=trust)
        self._trust, self._permitted = trust, permitted

    def connect(self) -> None:
        """Resolve the name, and connect to the first permitted address that answers."""
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        allowed = [each for each in found if self._permitted(ip_address(str(each[4][0]).partition("%")[0]))]
        if not allowed:
            raise _PrivateError
        for number, (family, kind, protocol, _, address) in enumerate(allowed, 1):
            plain = socket.socket(family, kind, protocol)
            try:
                plain.settimeout(self.timeout)
                plain.connect(address)
                self.sock = self._trust.wrap_socket(plain, server_hostname=self.host)
            except OSError:
                plain.close()
                if number == len(allowed):
                    raise
            else:
                return


def _refusal(status: int) -> str:
    if status in (401, 403):
        return f"the server denied access (HTTP {status}), and CiteKit sends no credentials; download the file yourself"
    return f"the server answered with HTTP {status}"


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
