"""Downloads models for faster-whisper from their publisher, on explicit request.

Revisions, sizes, and digests are pinned, so that a server cannot replace a model. An interrupted download continues
where it ended (RFC 9110, section 14).
"""

from __future__ import annotations

import shutil
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.adapters.libraries.model_files import digest
from citekit.adapters.libraries.speech_models import (
    CONFIG,
    ENGLISH,
    MODEL,
    TOKENIZER,
    SpeechModel,
    automatic_model,
    downloaded_models,
    packaged_models,
)
from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import unwritable
from citekit.adapters.system.retry import TRANSIENT, Retries, Verdict, tried
from citekit.domain.errors import CiteKitError, MapperUnavailable, RequestRefused
from citekit.domain.ports.locks import report_waiting
from citekit.domain.progress import Progress, silent
from citekit.domain.speech import SpeechModelFacts

PUBLISHER = "https://huggingface.co"
"""The service that publishes the models."""

_CHUNK = 2**20
_TIMEOUT = 30.0
_SPARE = 50_000_000
"""Bytes that must remain free on the disk."""

_LOCKS = ".locks"

_CERTIFICATE = (
    "Set SSL_CERT_FILE to the file with the certificate of your certificate authority, and run the command again"
)

_NETWORK = "Check the network (and CITEKIT_MODELS_URL, if you set it), and run the command again to continue"


@frozen
class PublishedFile:
    """The size in bytes and the SHA-256 digest of a published file."""

    size: int
    sha256: str


@frozen
class PublishedModel:
    """A published model: the commit of its repository, and the files that are needed."""

    revision: str
    files: Mapping[str, PublishedFile]

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files.values())


_MULTILINGUAL = {
    TOKENIZER: PublishedFile(2_203_239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
    "vocabulary.txt": PublishedFile(459_861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
}

PUBLISHED = {
    "tiny": PublishedModel(
        "d90ca5fe260221311c53c58e660288d3deb8d356",
        {
            CONFIG: PublishedFile(2_249, "a73a28cdfe1c43ccc7202fa333d1f89c202477271407ae9a7f19afa52039cac8"),
            **_MULTILINGUAL,
            MODEL: PublishedFile(75_538_270, "dcb76c6586fc06cbdac6dd21f14cfd129cc4cdd9dce19bf4ffa62e59cbe6e6d1"),
        },
    ),
    "tiny.en": PublishedModel(
        "0d3d19a32d3338f10357c0889762bd8d64bbdeba",
        {
            CONFIG: PublishedFile(2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
            TOKENIZER: PublishedFile(2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
            "vocabulary.txt": PublishedFile(
                422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"
            ),
            MODEL: PublishedFile(75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        },
    ),
    "base": PublishedModel(
        "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
        {
            CONFIG: PublishedFile(2_309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
            **_MULTILINGUAL,
            MODEL: PublishedFile(145_217_532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"),
        },
    ),
    "small": PublishedModel(
        "536b0662742c02347bc0e980a01041f333bce120",
        {
            CONFIG: PublishedFile(2_370, "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828"),
            **_MULTILINGUAL,
            MODEL: PublishedFile(483_546_902, "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671"),
        },
    ),
    "medium": PublishedModel(
        "08e178d48790749d25932bbc082711ddcfdfbc4f",
        {
            CONFIG: PublishedFile(2_257, "3622a2ddc41ec0e0fd4e68c13c6830f03b90c38d89aaad184de02c8c642cf807"),
            **_MULTILINGUAL,
            MODEL: PublishedFile(1_527_906_378, "9b45e1009dcc4ab601eff815b61d80e60ce3fd8c74c1a14f4a282258286b51ae"),
        },
    ),
}
"""The models by their names, smallest first."""


@frozen
class DownloadableModels:
    """A `SpeechModels` adapter that stores models in `folder`. `mirror` is the base URL of a copy of `PUBLISHER`."""

    folder: Path
    mirror: str = ""
    retries: Retries = field(factory=Retries)
    published: Mapping[str, PublishedModel] = field(default=PUBLISHED, repr=False)

    def known(self) -> Sequence[SpeechModelFacts]:
        """See `SpeechModels.known`."""
        installed = {model.name: model for model in (*packaged_models(), *downloaded_models(self.folder))}
        automatic = automatic_model(self.folder)
        return [
            evolve(
                _facts(name, published),
                where=_place(installed[name]) if name in installed else None,
                is_automatic=automatic is not None and name == automatic.name,
            )
            for name, published in self.published.items()
        ]

    def facts(self, name: str) -> SpeechModelFacts:
        """See `SpeechModels.facts`."""
        plain = name.removeprefix("whisper-")
        found = next((each for each in self.known() if plain == each.name), None)
        if found is None:
            raise RequestRefused(f"There is no model {name!r}. The available models are: {', '.join(self.published)}.")
        return found

    def download(self, name: str, progress: Progress = silent) -> Path:
        """See `SpeechModels.download`."""
        model = self.facts(name).name
        target = self.folder / model
        with Locks(self.folder / _LOCKS).hold(model, report_waiting(progress, "waiting for another download")):
            if not any(each.name == model for each in downloaded_models(self.folder)):
                self._download(model, target, progress)
        return target

    def _download(self, name: str, target: Path, progress: Progress) -> None:
        """Download the files to a temporary folder, and rename it to `target` when it is complete."""
        published = self.published[name]
        partial = target.with_name(f"{name}.partial")
        try:
            partial.mkdir(parents=True, exist_ok=True)
            _check_space(partial, published)
            done = 0
            for file_name, file in published.files.items():
                url = f"{self.mirror or PUBLISHER}/{_repository(name)}/resolve/{published.revision}/{file_name}"
                report = _from(done, published.size, f"downloading {name}", progress)
                self._fetch(url, partial / file_name, file, report)
                done += file.size
            partial.rename(target)
        except OSError as error:
            raise unwritable(error, partial) from error

    def _fetch(self, url: str, path: Path, file: PublishedFile, report: Callable[[int], None]) -> None:
        """Download one file to `path`, if needed. Raise `MapperUnavailable` if that fails or the file has another
        digest.
        """
        if not path.exists():
            part = path.with_name(f"{path.name}.part")
            waiting: Progress = lambda done, total=None, message="": report(_size(part))  # noqa: E731, ARG005
            tried(
                lambda: _append(url, part, file.size, report), lambda error: _verdict(error, url), self.retries, waiting
            )
            if _size(part) != file.size or digest(part) != file.sha256:
                part.unlink()
                raise MapperUnavailable(
                    f"The file from {url} differs from the published file, so the download was deleted. Try again, or use "
                    "another server (CITEKIT_MODELS_URL)."
                )
            part.rename(path)
        report(file.size)


def _append(url: str, part: Path, size: int, report: Callable[[int], None]) -> None:
    """Download what is missing from `part`. Raise `OSError` or `HTTPException` if the connection fails."""
    have = _size(part)
    if have > size:
        part.unlink()
        have = 0
    if have == size:
        return
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310 - as configured
    with closing(_opened(request)) as response:
        continues = response.status == 206
        with part.open("ab" if continues else "wb") as file:
            written = have if continues else 0
            for chunk in _chunks(response, size - written):
                file.write(chunk)
                written += len(chunk)
                report(written)
    if written < size:
        raise _CutShortError


class _CutShortError(HTTPException):
    """The server ended its answer before the end of the file."""


def _opened(request: urllib.request.Request) -> HTTPResponse:
    response: HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT)  # noqa: S310 - the publisher or the user's mirror
    return response


def _chunks(response: HTTPResponse, limit: int) -> Iterator[bytes]:
    """Yield an answer, at most one byte more than `limit`, so that a longer answer is noticed."""
    left = limit + 1
    while left > 0 and (chunk := response.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _verdict(error: Exception, url: str) -> Verdict | None:
    """Return what a failure of the connection or the server means; None for other errors."""
    if isinstance(error, urllib.error.HTTPError):
        is_temporary = error.code in TRANSIENT
        advice = "Run the command again to continue" if is_temporary else "Check CITEKIT_MODELS_URL, if you set it"
        return Verdict(_failed(url, f"the server answered {error.code} {error.reason}".rstrip(), advice), is_temporary)
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, ssl.SSLCertVerificationError):
        untrusted = f"its certificate is not trusted ({error.reason.verify_message})"
        return Verdict(_failed(url, untrusted, _CERTIFICATE), transient=False)
    if isinstance(error, HTTPException):
        return Verdict(_failed(url, "the connection was lost"), transient=True)
    if isinstance(error, urllib.error.URLError | ConnectionError | TimeoutError):
        return Verdict(_failed(url, str(getattr(error, "reason", error)), _NETWORK), transient=True)
    return None


def _failed(url: str, reason: str, advice: str = "Run the command again to continue") -> CiteKitError:
    return MapperUnavailable(f"{url} cannot be downloaded: {reason}. {advice}.")


def _check_space(partial: Path, published: PublishedModel) -> None:
    missing = published.size - sum(_size(path) for path in partial.iterdir())
    free = shutil.disk_usage(partial).free
    if free < missing + _SPARE:
        raise MapperUnavailable(
            f"The download needs {(missing + _SPARE) // 1_000_000} MB of free space in {partial.parent}, but only "
            f"{free // 1_000_000} MB is free. Free some space, and run the command again."
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _from(done: int, total: int, message: str, progress: Progress) -> Callable[[int], None]:
    return lambda size: progress(done + size, total, message)


def _repository(name: str) -> str:
    return f"Systran/faster-whisper-{name}"


def _facts(name: str, published: PublishedModel) -> SpeechModelFacts:
    return SpeechModelFacts(
        name=name,
        size=published.size,
        languages="English" if name.endswith(ENGLISH) else "99 languages",
        license="MIT",
        publisher=f"{PUBLISHER}/{_repository(name)}",
    )


def _place(model: SpeechModel) -> str:
    return str(model.folder or next(iter(model.files.values()))[0].parent)
