"""An object store in a service: S3 and compatible services, Google Cloud Storage, or Azure, through `obstore`.

A write of up to `WHOLE` bytes is one request with `If-None-Match: *`. HTTP 412 means that the object exists; HTTP 409,
that another write of the same key has not ended. The client repeats most failed requests; those whose response is
interrupted are repeated here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field, frozen

from citekit.adapters.libraries import obstore as driver
from citekit.adapters.libraries.obstore import Kind
from citekit.adapters.system.files import unreadable
from citekit.domain.errors import StoreUnavailable
from citekit.domain.object_key import ListedObject, ObjectKey, is_valid

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Client

T = TypeVar("T")

WHOLE = 64 << 20
"""The maximum size in bytes of a file that one conditional request writes. Larger files are uploaded in parts."""

CONFLICT_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""The pauses in seconds between repeated writes while another write of the same key has not ended."""

_SHOWN = re.compile(r"application/pdf|(?:audio|video)/[a-z0-9.+-]+|image/(?:png|jpeg|webp|gif|tiff|bmp|avif)")
"""The media types that browsers display without executing any content."""


@define
class _Seen:
    bucket: bool = False


@frozen
class RemoteObjectStore:
    """The objects below `url`, for example `s3://BUCKET/PREFIX`. Connects on the first request."""

    url: str
    retry_seconds: float = driver.RETRY_SECONDS
    sleep: Callable[[float], None] = time.sleep
    _clients: list[Client] = field(factory=list, init=False, eq=False, repr=False)
    _seen: _Seen = field(factory=_Seen, init=False, eq=False, repr=False)

    def put(self, key: ObjectKey, data: bytes) -> bool:
        """See `ObjectStore.put`."""
        return self._put(key, data, None)

    def _put(self, key: ObjectKey, data: bytes, headers: Mapping[str, str] | None) -> bool:
        for pause in (*CONFLICT_PAUSES, None):
            if self._created(key, data, headers):
                return True
            if pause is None or self.size(key) is not None:
                return False
            self.sleep(pause)
        raise AssertionError  # the last pause is None

    def put_file(self, key: ObjectKey, path: Path, media_type: str | None = None) -> bool:
        """See `ObjectStore.put_file`."""
        headers = None if media_type is None else _download_headers(key, media_type)
        try:
            if path.stat().st_size <= WHOLE:
                return self._put(key, path.read_bytes(), headers)
            file = path.open("rb")
        except OSError as error:
            raise unreadable(error, path) from error
        with file:
            if self.size(key) is not None:
                return False
            with self._accessing():
                driver.package().put(self._client(), key.text, file, attributes=headers)
        return True

    def read(self, key: ObjectKey, start: int = 0, length: int | None = None) -> bytes | None:
        """See `ObjectStore.read`."""
        if start == 0 and length is None:
            return self._whole(key)
        if length == 0:
            return None if self.size(key) is None else b""
        return self._part(key, start, length)

    def size(self, key: ObjectKey) -> int | None:
        """See `ObjectStore.size`."""
        with self._accessing():
            try:
                found: int = self._repeated(lambda: driver.package().head(self._client(), key.text))["size"]
            except FileNotFoundError:  # also if there is no bucket: the response has no body
                self._require_bucket()
                return None
        return found

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        """See `ObjectStore.listing`."""
        if folder:
            ObjectKey(folder)
        with self._accessing():
            for page in driver.pages(self._client(), folder or None, self.retry_seconds, self.sleep):
                for each in page:
                    if is_valid(each["path"]):
                        yield ListedObject(ObjectKey(each["path"]), each["size"], each["last_modified"])

    def link(self, key: ObjectKey, seconds: int) -> str | None:
        """See `ObjectStore.link`. Return None if the service would not send the headers of a safe download: services
        may guess a media type from the bytes.
        """
        with self._accessing():
            try:
                headers = self._repeated(
                    lambda: driver.package().get(self._client(), key.text, options={"head": True})
                ).attributes
            except FileNotFoundError:
                return None
        expected = _download_headers(key, str(headers.get("Content-Type", "")))
        if any(headers.get(name) != value for name, value in expected.items()):
            return None
        return driver.signed_link(self._client(), key.text, seconds)

    def remove(self, key: ObjectKey) -> None:
        """See `ObjectStore.remove`."""
        with self._accessing():
            try:
                self._repeated(lambda: driver.package().delete(self._client(), key.text))
            except FileNotFoundError as error:
                if driver.is_without_bucket(error):
                    raise

    def _created(self, key: ObjectKey, data: bytes, headers: Mapping[str, str] | None) -> bool:
        """Write the object. Return False if it exists or another write has not ended."""
        with self._accessing():
            try:
                self._repeated(
                    lambda: driver.package().put(
                        self._client(), key.text, data, attributes=headers, mode="create", use_multipart=False
                    )
                )
            except Exception as error:
                if driver.kind(error) is not Kind.EXISTS:
                    raise
                return False
        return True

    def _whole(self, key: ObjectKey) -> bytes | None:
        with self._accessing():
            try:
                data, size = self._repeated(partial(self._got, key, {}))
            except FileNotFoundError as error:
                if driver.is_without_bucket(error):
                    raise
                return None
        return self._complete(key, data, size)

    def _part(self, key: ObjectKey, start: int, length: int | None) -> bytes | None:
        """Return a part of the object: None if the object is missing, empty if the part begins at or beyond its end."""
        wanted = {"offset": start} if length is None else (start, start + length)
        with self._accessing():
            try:
                data, whole = self._repeated(partial(self._got, key, {"range": wanted}))
            except Exception as error:
                if isinstance(error, FileNotFoundError) and not driver.is_without_bucket(error):
                    return None
                size = self.size(key) if driver.is_outside(error) else None
                if size is None or start < size:
                    raise
                return b""
        return self._complete(key, data, (whole if length is None else min(whole, start + length)) - start)

    def _got(self, key: ObjectKey, options: Mapping[str, object]) -> tuple[bytes, int]:
        """Return the requested bytes, and the size of the whole object in bytes."""
        found = driver.package().get(self._client(), key.text, options=dict(options))
        return bytes(found.bytes()), found.meta["size"]

    def _repeated(self, use: Callable[[], T]) -> T:
        return driver.repeated(use, self.retry_seconds, self.sleep)

    def _complete(self, key: ObjectKey, data: bytes, expected: int) -> bytes:
        if len(data) != expected:
            raise StoreUnavailable(
                f"{driver.place(self.url)} returned {len(data)} of {expected} bytes of {key}. Try again."
            )
        return data

    def _require_bucket(self) -> None:
        """Check once that the bucket exists, because a missing bucket and a missing object can look the same."""
        if not self._seen.bucket:
            next(driver.pages(self._client(), None, self.retry_seconds, self.sleep), None)
            self._seen.bucket = True

    def _client(self) -> Client:
        if not self._clients:
            self._clients.append(driver.connect(self.url, self.retry_seconds))
        return self._clients[0]

    def _accessing(self) -> AbstractContextManager[None]:
        return driver.accessing(f"The object store {driver.place(self.url)}")


def _download_headers(key: ObjectKey, media_type: str) -> Mapping[str, str]:
    """Return the headers with which a service sends the object: as a download whose type browsers do not execute."""
    name = media_type.partition(";")[0].strip().casefold()
    if name.startswith("text/"):
        name = "text/plain"
    elif not _SHOWN.fullmatch(name):
        name = "application/octet-stream"
    *_, folder, last = ("", *key.text.split("/"))
    ending = "".join(letter for letter in name.partition("/")[2] if letter.isalnum())[:10]
    return {"Content-Type": name, "Content-Disposition": f'attachment; filename="{(folder + last)[:16]}.{ending}"'}
