"""The certificates that connections to services trust, read once because that takes tens of milliseconds."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def trusted_certificates(*, environment: bool = True) -> ssl.SSLContext:
    """Return the TLS settings of an HTTP client of the SDKs, read once for all clients of this process.

    With `environment`, the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` can name other certificates. Raise `OSError` if
    these cannot be read.
    """
    named = tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")) if environment else ()
    return _read(*named)


@cache
def _read(*named: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=bool(named))
