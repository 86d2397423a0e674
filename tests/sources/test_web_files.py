"""Files by HTTPS as sources, against a real server on this machine: what is fetched, and what is refused."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from attrs import define, field

from citekit.adapters.sources.bucket_files import BucketFiles
from citekit.adapters.sources.web_host import WebHost, is_public
from citekit.container import Container, bootstrap
from citekit.domain.errors import RequestRefused, SourceUnreadable
from tests.cli.program import Cli

Answer = tuple[int, dict[str, str], bytes]


@define
class Site:
    """The answers by path, and the requests that came, each with its headers."""

    host: str
    files: BucketFiles
    answers: dict[str, Answer] = field(factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(factory=list)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=localhost",
    ]
    try:
        subprocess.run(
            [*command, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
            check=True,
            capture_output=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no program openssl")
    return key, certificate


@pytest.fixture
def site(certificate: tuple[Path, Path], tmp_path: Path) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.requests.append((f"{self.command} {self.path}", dict(self.headers)))
            status, headers, body = found.answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    key, chain = certificate
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    trust = partial(ssl.create_default_context, cafile=str(chain))
    web = partial(WebHost, permitted=lambda address: address.is_loopback, trust=trust)
    host = f"localhost:{server.server_port}"
    found = Site(host, BucketFiles(tmp_path / "remote", 100_000, web=web))
    yield found
    server.shutdown()
    server.server_close()
    thread.join(10)


def fetched(site: Site, path: str, *more: str) -> bytes:
    place = site.files.permit(f"https://{site.host}{path}", (site.host, *more))
    site.files.fetch(place)
    return place.read_bytes()


def test_a_file_is_fetched_without_credentials_and_again_only_if_it_changed(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    (tmp_path / ".netrc").write_text("machine localhost login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    site.answers["/a%20b.md?x=1"] = 200, {"ETag": '"1"'}, b"# One\n"

    assert b"# One\n" == fetched(site, "/a%20b.md?x=1#top") == fetched(site, "/a%20b.md?x=1")

    assert 1 == [line for line, _ in site.requests].count("GET /a%20b.md?x=1")
    assert {"host", "accept-encoding", "user-agent"} == {name.lower() for _, sent in site.requests for name in sent}
    site.answers["/a%20b.md?x=1"] = 200, {"ETag": '"2"'}, b"# Two\n"
    assert b"# Two\n" == fetched(site, "/a%20b.md?x=1")


def test_a_removed_copy_is_fetched_again_from_the_permitted_host_only(site: Site) -> None:
    site.answers["/a.md"] = 200, {}, b"# One\n"
    place = site.files.permit(f"https://{site.host}/a.md", [site.host])
    site.files.fetch(place)
    place.unlink()
    later = BucketFiles(site.files.folder, 100_000, web=site.files.web)

    assert later.restore(place)
    assert not later.restore(place.with_name("b.md"))
    site.answers["/a.md"] = 302, {"Location": "https://other.example/a.md"}, b""
    place.unlink()
    assert not later.restore(place)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((302, {"Location": "http://{host}/b.md"}, b""), "redirects only to https"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "redirects only to https"),
        ((301, {"Location": "https://other.example/b.md"}, b""), "add --allow-host other.example"),
        ((307, {"Location": "https://me:secret@{host}/b.md"}, b""), "contains a user name"),
        ((302, {"Location": "/a.md"}, b""), "redirects more than 5 times"),
        ((403, {}, b""), "denied access .HTTP 403"),
        ((404, {}, b""), "it does not exist"),
        ((500, {}, b""), "answered with HTTP 500"),
        ((200, {"Content-Length": "2000000"}, b"x"), "it has 2,000,000 bytes"),
        ((200, {}, b"x" * 200_000), "more than 100,000 bytes"),
        ((200, {"Content-Length": "5000"}, b"x"), "connection was lost"),
        ((200, {"Content-Encoding": "gzip"}, b"x"), "only compressed"),
    ],
)
def test_what_is_not_fetched_is_one_sentence_and_leaves_nothing(site: Site, answer: Answer, says: str) -> None:
    status, headers, body = answer
    site.answers["/a.md"] = status, {name: text.replace("{host}", site.host) for name, text in headers.items()}, body

    with pytest.raises(SourceUnreadable, match=says) as caught:
        fetched(site, "/a.md")

    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert not [path for path in site.files.folder.rglob("*") if path.is_file()]


def test_a_host_of_this_machine_is_refused_whatever_its_name(site: Site) -> None:
    trusting = site.files.web
    site.files.web = WebHost

    with pytest.raises(SourceUnreadable, match="no public address"):
        fetched(site, "/a.md")

    site.files.web = trusting
    site.answers["/a.md"] = 302, {"Location": "https://127.0.0.1:1/x"}, b""
    with pytest.raises(SourceUnreadable, match="redirects to 127"):
        fetched(site, "/a.md")
    site.files.web = lambda url, hosts: WebHost(url, hosts, permitted=lambda address: not address.is_loopback)
    with pytest.raises(SourceUnreadable, match="no public address"):
        fetched(site, "/a.md", "127.0.0.1:1")
    assert not [line for line, _ in site.requests if line.startswith("GET") and "x" in line]


def test_a_certificate_that_is_not_trusted_is_refused(site: Site) -> None:
    site.files.web = partial(WebHost, permitted=lambda _: True)

    with pytest.raises(SourceUnreadable, match=r"request to .* failed .*certificate"):
        fetched(site, "/a.md")


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.9.9",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("::1", "fe80::1", "fc00::1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1", "::"),
    ],
)
def test_addresses_of_private_networks_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


def test_addresses_of_the_internet_are_public() -> None:
    assert is_public(ip_address("93.184.216.34"))
    assert is_public(ip_address("2606:2800:220:1:248:1893:25c8:1946"))


def test_a_file_is_mapped_and_its_evidence_is_cut(site: Site, tmp_path: Path) -> None:
    site.answers["/guide.md"] = 200, {"ETag": '"1"'}, b"# Guide\n\nWords.\n"
    app: Container = bootstrap(home=tmp_path / "home")
    app.made["bucket_files"] = site.files
    place = app.bucket_files.permit(f"https://{site.host}/guide.md", [site.host])

    first, second = app.ingest(place), app.ingest(place)

    assert (True, False) == (first.mapped_now, second.mapped_now)
    assert "Guide" == first.card.title


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["https://example.org/a.pdf"], "add --allow-host example.org"),
        (["https://me:secret@example.org/a.pdf", "--allow-host", "example.org"], "contains a user name"),
        (["http://example.org/a.pdf", "--allow-host", "example.org"], "cannot be mapped"),
        (["https://localhost/a.pdf", "--allow-host", "localhost"], "no public address"),
        (["https://x.example/a.pdf", "--allow-host", "x.example", "--cluster", "local:1"], "--cluster does not work"),
    ],
)
def test_the_command_refuses_what_was_not_permitted(tmp_path: Path, words: list[str], says: str) -> None:
    done = Cli(tmp_path)("ingest", *words)

    assert 0 != done.code
    assert says in " ".join((done.out + done.err).split())
    assert "secret" not in done.err


def test_an_address_with_a_user_name_is_refused(site: Site) -> None:
    with pytest.raises(RequestRefused, match="contains a user name"):
        site.files.permit("https://me:secret@example.org/a", ["me:secret@example.org"])
