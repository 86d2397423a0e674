"""Models are downloaded on request, from a real server: whole, in parts, altered, and by the command."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from attrs import define, field

from citekit.adapters.libraries.speech_downloads import PUBLISHED, DownloadableModels, PublishedFile, PublishedModel
from citekit.adapters.libraries.speech_models import automatic_model, chosen_model
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import Cancelled, MapperUnavailable, RequestRefused
from tests.cli.program import Cli
from tests.formats.media.speech_samples import needs_speech, small_model

CONTENT = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "vocabulary.txt": b"a",
    "model.bin": bytes(range(256)) * 8192,  # two chunks
}
CATALOG = {
    "base": PublishedModel(
        "f00d", {name: PublishedFile(len(data), hashlib.sha256(data).hexdigest()) for name, data in CONTENT.items()}
    )
}


@define
class Publisher:
    """A server with files. It cuts the first answers short after `cuts` bytes each, and can ignore ranges."""

    files: dict[str, bytes] = field(factory=lambda: dict(CONTENT))
    cuts: list[int] = field(factory=list)
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(factory=list)
    url: str = ""


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    state = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, range_ = self.path.rpartition("/")[2], self.headers["Range"]
            state.asked.append((self.path, range_))
            data = state.files.get(name)
            if data is None:
                self.send_error(404)
                return
            start = int(re.findall(r"\d+", range_)[0]) if range_ and state.ranges else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            cut = state.cuts.pop() if name == "model.bin" and state.cuts else len(data)
            self.wfile.write(data[start : start + cut])

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}"
        yield state
        server.shutdown()


def models_in(folder: Path, publisher: Publisher, retries: int = 0) -> DownloadableModels:
    return DownloadableModels(folder, publisher.url, Retries(count=retries, base=0.001), CATALOG)


def test_a_model_is_downloaded_whole_and_once_and_is_then_the_automatic_one(
    publisher: Publisher, tmp_path: Path
) -> None:
    models = models_in(tmp_path / "models", publisher)
    seen: list[tuple[float, float | None, str]] = []
    before = models.facts("whisper-base")

    folder = models.download("base", lambda *now: seen.append(now))
    asked = len(publisher.asked)
    models.download("base")

    assert before.where is None
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert (str(folder), True) == (models.facts("base").where, models.facts("base").is_automatic)
    assert folder == automatic_model(tmp_path / "models").folder == chosen_model("base", tmp_path / "models").folder  # type: ignore[union-attr]
    assert (before.size, before.size, "downloading base") == seen[-1]
    assert publisher.asked[0][0] == "/Systran/faster-whisper-base/resolve/f00d/config.json"
    assert asked == len(publisher.asked) == len(CONTENT)
    assert not list((tmp_path / "models").glob("*.partial"))


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
def test_an_interrupted_download_continues_in_the_next_run(publisher: Publisher, tmp_path: Path, ranges: bool) -> None:
    publisher.cuts, publisher.ranges = [1_500_000], ranges
    models = models_in(tmp_path, publisher)

    with pytest.raises(
        MapperUnavailable, match=r"model\.bin cannot be downloaded: .*Run the command again to continue\."
    ):
        models.download("base")
    assert automatic_model(tmp_path) is None or automatic_model(tmp_path).folder != tmp_path / "base"  # type: ignore[union-attr]
    folder = models.download("base")

    assert publisher.asked[-1][1] == "bytes=1500000-"
    assert CONTENT["model.bin"] == (folder / "model.bin").read_bytes()


def test_a_lost_connection_is_tried_again_where_it_broke(publisher: Publisher, tmp_path: Path) -> None:
    publisher.cuts = [500_000, 600_000]

    folder = models_in(tmp_path, publisher, retries=2).download("base")

    assert [None, "bytes=600000-", "bytes=1100000-"] == [each for _, each in publisher.asked[3:]]
    assert CONTENT["model.bin"] == (folder / "model.bin").read_bytes()


@pytest.mark.parametrize(
    "data", [CONTENT["model.bin"][:-1] + b"x", CONTENT["model.bin"] + b"more"], ids=["other", "longer"]
)
def test_an_altered_file_is_deleted_and_never_used(publisher: Publisher, tmp_path: Path, data: bytes) -> None:
    models = models_in(tmp_path, publisher)
    publisher.files["model.bin"] = data

    with pytest.raises(MapperUnavailable, match="differs from the published file, so the download was deleted"):
        models.download("base")
    left = {path.name for path in (tmp_path / "base.partial").iterdir()}
    publisher.files["model.bin"] = CONTENT["model.bin"]
    folder = models.download("base")

    assert {"config.json", "tokenizer.json", "vocabulary.txt"} == left
    assert CONTENT["model.bin"] == (folder / "model.bin").read_bytes()


def test_a_cancelled_download_keeps_what_it_has(publisher: Publisher, tmp_path: Path) -> None:
    models = models_in(tmp_path, publisher)

    def stop(done: float, total: float | None = None, message: str = "") -> None:
        if done > 1_000_000:
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        models.download("base", stop)
    models.download("base")

    assert publisher.asked[-1][1] == "bytes=1048576-"


def test_what_cannot_be_downloaded_is_one_clear_sentence(publisher: Publisher, tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match=r"There is no model 'huge'\. The available models are: base\."):
        models_in(tmp_path, publisher).download("huge")
    del publisher.files["config.json"]
    with pytest.raises(MapperUnavailable, match=r"config\.json cannot be downloaded: the server answered 404"):
        models_in(tmp_path, publisher).download("base")
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match="not a folder"):
        models_in(tmp_path / "file", publisher).download("base")


@needs_speech
def test_the_command_shows_size_and_license_and_downloads_the_published_files(
    publisher: Publisher, tmp_path: Path
) -> None:
    """The files of the package are those that the publisher has, so a real model passes the real digests."""
    publisher.files = {name: paths[0].read_bytes() for name, paths in small_model().files.items()}
    cli = Cli(tmp_path)
    place = {"XDG_DATA_HOME": str(tmp_path / "data"), "CITEKIT_MODELS_URL": publisher.url}

    listed = cli("models", "list", "--json", **place).document["models"]
    got = cli("models", "get", "whisper-tiny.en", **place)

    assert [(each["name"], each["license"]) for each in listed] == [(name, "MIT") for name in PUBLISHED]
    assert all(each["size"] == PUBLISHED[each["name"]].size for each in listed)
    assert (
        0,
        "Whisper tiny.en: 78.1 MB, MIT license, from https://huggingface.co/Systran/faster-whisper-tiny.en\n",
    ) == (
        got.code,
        got.err,
    )
    folder = tmp_path / "data" / "citekit-models" / "tiny.en"
    assert f"The model tiny.en is in {folder}. To use it, set CITEKIT_SPEECH_MODEL=tiny.en.\n" == got.out
    assert {path.name for path in folder.iterdir()} == set(publisher.files)
