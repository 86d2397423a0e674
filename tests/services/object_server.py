"""A real S3 server in a temporary folder: SeaweedFS, whose program comes from the package index."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

START_SECONDS = 120


def program() -> str | None:
    """The program `weed` of this environment or of the system."""
    scripts = {
        Path(sys.executable).parent,
        *(Path(folder).parents[2] / "bin" for folder in sys.path if "site-packages" in folder),
    }
    return shutil.which("weed", path=os.pathsep.join(map(str, scripts))) or shutil.which("weed")


def _free_ports(count: int) -> list[int]:
    """Free ports below 40000, drawn at random: the server listens on each port and on that port plus 10000."""
    found: list[int] = []
    for port in random.sample(range(20000, 40000), 1000):
        with suppress(OSError), socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", port))
            other.bind(("127.0.0.1", port + 10000))
            found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports")


def s3_variables(endpoint: str) -> dict[str, str]:
    """The environment variables with which clients use the server at `endpoint`."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }


@contextmanager
def s3_server(weed: str) -> Iterator[str]:
    """The endpoint of a server with the bucket `bucket`, which accepts any credentials."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server, endpoint = _started(weed, folder)
        try:
            yield endpoint
        finally:
            server.kill()
            server.wait(10)


def _started(weed: str, folder: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the server; start it again with other ports if it ends, because another process may take a free port."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        s3, s3_grpc, master, volume, filer = _free_ports(5)
        flags = {
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "s3.port": s3,
            "s3.port.grpc": s3_grpc,
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "s3.iam": "false",
            "master.port": master,
            "volume.port": volume,
            "filer.port": filer,
            "volume.max": 20,
            "master.volumeSizeLimitMB": 64,
        }
        own = tempfile.mkdtemp(dir=folder)
        command = [weed, "server", f"-dir={own}", "-s3", *(f"-{name}={value}" for name, value in flags.items())]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=own)
        try:
            while time.monotonic() < end and server.poll() is None:
                if _make_bucket(f"http://127.0.0.1:{s3}/bucket"):
                    return server, f"http://127.0.0.1:{s3}"
                time.sleep(0.1)
        except BaseException:
            server.kill()
            raise
        server.kill()
        server.wait(10)
    raise AssertionError("the S3 server did not start")


def _make_bucket(url: str) -> bool:
    """Whether the server has the bucket and stores an object in it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(urllib.request.Request(url, method="PUT"), timeout=5).close()
        opener.open(urllib.request.Request(f"{url}/ready", data=b"x", method="PUT"), timeout=5).close()
        opener.open(urllib.request.Request(f"{url}/ready", method="DELETE"), timeout=5).close()
    except OSError:
        return False
    return True
