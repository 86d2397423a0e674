"""Uploads the files of a conversation to Gemini's Files API, and deletes them.

CiteKit chooses the remote name and records it before sending the first byte, so that a killed process or a lost reply
leaves no unknown file behind.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, evolve, field

from citekit.adapters.libraries.google_genai import client as google_genai
from citekit.adapters.libraries.service_keys import without_key
from citekit.adapters.mappers.llm.messages import FilePart
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUpload, OrphanedUploads, UploadRun
from citekit.adapters.system.files import unreadable
from citekit.adapters.system.interruptible import attended
from citekit.adapters.system.retry import Retries, Verdict, asked, tried
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from google import genai

SERVICE = "gemini"

LIFETIME = 48 * 3600.0
"""Seconds after which the service deletes a file."""

PDF_BYTES = 50_000_000
FILE_BYTES = 2_000_000_000
"""The maximum size in bytes of a PDF, and of any other file, that the service accepts."""

POLL_SECONDS = 2.0
"""Seconds between two requests for the state of a file."""

GRACE_SECONDS = 2.0
"""Seconds that a canceled upload has to end its current step."""

DELETE_TIMEOUT = 15.0
"""Maximum seconds of each wait during a deletion, short because a user who pressed Ctrl-C may be waiting."""

MAX_PAUSE = 5.0
"""The longest pause in seconds before a deletion is retried."""

GEMINI_MEDIA_TYPES = {
    "audio/mp4": "audio/m4a",
    "video/quicktime": "video/mov",
    "video/x-msvideo": "video/avi",
    "video/x-ms-wmv": "video/wmv",
}
"""Media types for which the service has another name."""

_FILE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
"""The names of files at the service (reference of the Files API). A name becomes part of a URL."""

T = TypeVar("T")


def owner_of(key: str, base_url: str | None) -> str:
    """Return a fingerprint of `key` and the service at `base_url`, which does not reveal the key.

    It stands for the account: an upload can be deleted only with a key of its own account.
    """
    return hashlib.sha256(f"{base_url or google_genai.BASE_URL}\n{key}".encode()).hexdigest()[:12]


def orphans_note(names: Sequence[str]) -> str:
    """Return a message that lists the remote files `names`, which could not be deleted."""
    return (
        f"Gemini may still store these uploaded files: {', '.join(names)}. The next run with the same key deletes them, "
        "and Gemini itself deletes them after 48 hours. The command citekit doctor lists them."
    )


@define
class RemoteFiles:
    """The files that a conversation has uploaded. Several threads can use it at once.

    `url_setting` names the option or variable with the base URL.
    """

    client: genai.Client
    explain: Callable[[Exception], Verdict | None]
    retries: Retries
    timeout: float
    base_url: str | None = field(repr=False)
    key: str = field(repr=False)
    run: UploadRun
    url_setting: str = "--base-url"
    _sent: dict[FilePart, Any] = field(factory=dict, init=False)
    _gates: dict[FilePart, threading.Lock] = field(factory=dict, init=False)
    _names: dict[str, bool] = field(factory=dict, init=False)  # name -> whether its upload may still be running

    @property
    def owner(self) -> str:
        """The fingerprint of the account of `key`."""
        return owner_of(self.key, self.base_url)

    def obtain(self, part: FilePart, progress: Progress) -> Any:
        """Return the remote file (`types.File`) for `part`, which is uploaded if necessary, after the service has
        processed it.

        Raise `MapperUnavailable` if the file is too large or the service fails, or `SourceUnreadable` if it cannot be
        read.
        """
        with self._gates.setdefault(part, threading.Lock()):
            if part not in self._sent:
                self._sent[part] = self._uploaded(part, progress)
            return self._sent[part]

    def _uploaded(self, part: FilePart, progress: Progress) -> Any:
        check_size(part)
        sent = self._tried(lambda: self._upload(part, progress), progress)
        return self._ready(sent, part.path.name, progress)

    def _upload(self, part: FilePart, progress: Progress) -> Any:
        name = f"citekit-{secrets.token_hex(12)}"
        media_type = GEMINI_MEDIA_TYPES.get(part.media_type, part.media_type)
        with _open_outgoing(part.path) as outgoing, self._noted(name, outgoing) as ended:
            sent = attended(
                lambda: _signalling(
                    ended, lambda: google_genai.upload(self.client, outgoing, name, media_type, self.base_url)
                ),
                lambda: progress(outgoing.sent, outgoing.size, f"uploading {part.path.name} to Gemini"),
            )
        given = (sent.name or name).removeprefix("files/")
        if not _FILE_NAME.fullmatch(given) or without_key(given, self.key) != given:
            raise MapperUnavailable(
                f"After the upload of {part.path.name}, the service returned a file name that is not valid for Gemini. Check "
                f"the address ({self.url_setting})."
            )
        if given != name:
            self._note(given)
        progress(outgoing.size, outgoing.size, f"uploaded {part.path.name} to Gemini")
        return sent

    @contextmanager
    def _noted(self, name: str, outgoing: google_genai.Outgoing) -> Iterator[threading.Event]:
        """Record `name` before its upload, and yield an event that must be set when the upload ends.

        Remove the record if the upload fails before its first byte is sent.
        """
        self._note(name)
        ended = threading.Event()
        try:
            yield ended
        except BaseException:
            outgoing.stopped = True
            self._names[name] = not ended.wait(GRACE_SECONDS)
            if not outgoing.begun:
                self._strike_out(name)
            raise

    def _strike_out(self, name: str) -> None:
        del self._names[name]
        self.run.forget(name)

    def _note(self, name: str) -> None:
        self._names[name] = False
        self.run.remember(OrphanedUpload(SERVICE, name, self.owner, time.time() + LIFETIME))

    def _ready(self, sent: Any, label: str, progress: Progress) -> Any:
        """Wait until the service has processed an uploaded file, and return its new state.

        Raise `MapperUnavailable` if processing fails or takes too long.
        """
        waited = 0.0
        while _state(sent) == "PROCESSING":
            if waited >= self.timeout:
                raise MapperUnavailable(
                    f"Gemini did not finish processing {label} within {self.timeout:.0f} s. Increase --timeout, or "
                    "map a smaller file."
                )
            progress(0, None, f"Gemini is processing {label} ({waited:.0f} s)")
            self.retries.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
            sent = asked(partial(self.client.files.get, name=sent.name), self.explain, self.retries, progress)
        if _state(sent) == "FAILED":
            raise MapperUnavailable(
                f"Gemini could not process {label}{_failure_detail(sent)}. Check that the file opens in another "
                "program, or use --mapper local."
            )
        return sent

    def _tried(self, call: Callable[[], T], progress: Progress) -> T:
        return tried(call, self.explain, self.retries, progress)

    def delete_all(self) -> None:
        """Delete the uploads of the conversation. Those that may still be at the service stay recorded, for the next
        run.
        """
        hurried = evolve(
            self.retries,
            count=min(1, self.retries.count),
            sleep=lambda seconds: self.retries.sleep(min(seconds, MAX_PAUSE)),
        )
        delete = self._until_one_fails(hurried)
        for name, perhaps_coming in list(self._names.items()):
            if delete(name) and not perhaps_coming:
                self._strike_out(name)

    def sweep(self, uploads: OrphanedUploads) -> int:
        """Delete the orphaned uploads of this account until one deletion fails. Return the number of deleted files."""
        return uploads.sweep(SERVICE, self.owner, self._until_one_fails(evolve(self.retries, count=0)))

    def _until_one_fails(self, retries: Retries) -> Callable[[str], bool]:
        """Return a function that deletes a remote file by name and returns whether it is gone; after one failure,
        always False.
        """
        failed = False

        def delete(name: str) -> bool:
            nonlocal failed
            failed = failed or not self._delete(name, retries)
            return not failed

        return delete

    def _delete(self, name: str, retries: Retries) -> bool:
        """Delete a remote file and return whether it is gone.

        The service replies 403 or 404 for files that never existed or belong to another account, which count as gone.
        """
        try:
            tried(lambda: self._delete_once(name), self.explain, retries, silent)
        except MapperUnavailable:
            return False
        return True

    def _delete_once(self, name: str) -> None:
        from google.genai import errors, types

        seconds = min(self.timeout, DELETE_TIMEOUT)
        config = types.DeleteFileConfig(http_options=types.HttpOptions(timeout=math.ceil(seconds * 1000)))
        deadline = time.monotonic() + 2 * seconds  # the HTTP timeout limits each wait, not the whole answer

        def still_due() -> None:
            if time.monotonic() > deadline:
                raise MapperUnavailable(
                    f"Gemini did not confirm within {2 * seconds:g} s that it deleted an uploaded file. The next "
                    "run deletes it."
                )

        try:
            attended(lambda: self.client.files.delete(name=name, config=config), still_due)
        except errors.ClientError as error:
            if error.code not in (403, 404):
                raise


def check_size(part: FilePart) -> None:
    """Raise `MapperUnavailable` if a file is too large for the service, or `SourceUnreadable` if it cannot be read."""
    try:
        size = part.path.stat().st_size
    except OSError as error:
        raise unreadable(error, part.path) from error
    limit, what = (PDF_BYTES, "a PDF") if part.media_type == "application/pdf" else (FILE_BYTES, "a file")
    if size > limit:
        raise MapperUnavailable(
            f"{part.path.name} is {size / 1e6:,.1f} MB, but Gemini's limit for {what} is {limit / 1e6:,.0f} MB, "
            "so it was not uploaded. Split the file, or use --mapper local."
        )


def _open_outgoing(path: Path) -> google_genai.Outgoing:
    try:
        return google_genai.Outgoing(path)
    except OSError as error:
        raise unreadable(error, path) from error


def _signalling(ended: threading.Event, call: Callable[[], T]) -> T:
    try:
        return call()
    finally:
        ended.set()


def _state(file: Any) -> str:
    return str(getattr(file.state, "value", file.state) or "")


def _failure_detail(file: Any) -> str:
    message = getattr(file.error, "message", None)
    return f" ({' '.join(str(message).split())[:200].rstrip('.')})" if message else ""
