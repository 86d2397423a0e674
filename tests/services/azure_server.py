"""A real server for Azure's objects in a temporary folder: Azurite, whose program comes from the npm package `azurite`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate

START_SECONDS = 40

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The published account and key of every emulator."""


def program() -> str | None:
    """The program `azurite-blob` of the system."""
    return shutil.which("azurite-blob")


def azure_variables(endpoint: str) -> dict[str, str]:
    """The environment variables with which clients use the server at `endpoint`."""
    return {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": endpoint, "NO_PROXY": "127.0.0.1"}


@contextmanager
def azure_server(azurite: str) -> Iterator[str]:
    """The endpoint of a server with the container `bucket`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, open(os.devnull, "wb") as nowhere:
        flags = ["--silent", "--skipApiVersionCheck", "--disableTelemetry", "--location", folder]
        command = [azurite, "--blobHost", "127.0.0.1", "--blobPort", port, *flags]
        server = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, cwd=folder)
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _make_container(endpoint, server)
            yield endpoint
        finally:
            server.kill()
            server.wait(10)


def _make_container(endpoint: str, server: subprocess.Popen[bytes]) -> None:
    date, api = formatdate(usegmt=True), "2021-08-06"
    resource = f"/{ACCOUNT}/{ACCOUNT}/bucket\nrestype:container"
    signed = f"PUT{chr(10) * 12}x-ms-date:{date}\nx-ms-version:{api}\n{resource}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)).decode()
    headers = {"x-ms-date": date, "x-ms-version": api, "Authorization": f"SharedKey {ACCOUNT}:{signature}"}
    request = urllib.request.Request(f"{endpoint}/{ACCOUNT}/bucket?restype=container", headers=headers, method="PUT")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with suppress(OSError):
            opener.open(request, timeout=5).close()
            return
        time.sleep(0.1)
    raise AssertionError("the server for Azure's objects did not start")
