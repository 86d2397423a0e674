"""Local copies of files in buckets of S3 and compatible services, Google Cloud Storage, and Azure, and of web pages.

The copy of `s3://BUCKET/a/b.pdf` is `FOLDER/files/s3/BUCKET/a/b.pdf`. Characters that are not portable in file names
are percent-encoded (RFC 3986). `FOLDER/versions` has a record of each file that was fetched, even if the copy was
removed. It counts only with a valid seal of this home, because a record from elsewhere could name any file in the
user's buckets, or give any bytes as the content of a file. The record of an `https` file has the hosts that the user
permitted for it; a removed copy is fetched again only from these hosts and those permitted in this process.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from attrs import define, field, frozen

from citekit.adapters.libraries import obstore as driver
from citekit.adapters.libraries.obstore import Kind
from citekit.adapters.system.files import temporary_beside, write_atomically, writing
from citekit.adapters.system.home_files import make_folder, read_file
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import RequestRefused, SourceUnreadable
from citekit.domain.ports.remote_files import RemoteFile, is_remote

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Client

    from citekit.adapters.sources.web_host import WebHost

LARGEST = 4_000_000_000
"""The maximum size in bytes of a file that is fetched."""

GRACE = 900.0
"""Seconds for which a copy is kept after its last use, because a process may still read it."""

MOST = 2_000_000
"""The maximum number of files in a listing, which callers keep in memory (about 1 kB each)."""

LONGEST_NAME = 200
"""The maximum length of each part of the path of a copy, in bytes."""

_EVERY = 50
"""The number of fetched files after which the size of the cache is measured."""

_BLOCK = 8 << 20
_SAFE = " !#$&'()+,;=@[]^_`{}~-."
_EMPTY = "%"
_WEB = "https://"


def web_host(url: str, hosts: frozenset[str]) -> WebHost:
    """Return the host at `url`, with access to `hosts` only.

    The module of `WebHost` is imported here, because most commands fetch nothing from the web.
    """
    from citekit.adapters.sources.web_host import WebHost

    return WebHost(url, hosts)


@frozen
class _Record:
    version: str
    size: int
    digest: str
    hosts: frozenset[str] = frozenset()

    def parts(self, path: Path) -> tuple[bytes, ...]:
        """Return the data that the authentication code covers. `path` is the relative path of the copy."""
        texts = ("bucket", str(path), self.version, str(self.size), self.digest, *sorted(self.hosts))
        return tuple(text.encode("utf-8", "surrogatepass") for text in texts)


@define
class BucketFiles:
    """Implements `RemoteFiles` with the copies below `folder`, whose total size is limited to about `limit` bytes.

    A file with more than `largest` or `limit` bytes is not fetched. `web` connects to a host of `https` files.
    """

    folder: Path
    limit: int
    largest: int = LARGEST
    web: Callable[[str, frozenset[str]], WebHost] = web_host
    _hosts: frozenset[str] = field(default=frozenset(), init=False)
    _clients: dict[str, Client] = field(factory=dict, init=False)
    _versions: dict[Path, str] = field(factory=dict, init=False)
    _fetched: int = field(default=0, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _seal: HomeSeal = field(init=False)
    _prefix: str = field(init=False)

    @_seal.default
    def _seal_of_records(self) -> HomeSeal:
        return HomeSeal(self.folder / "versions", private=True)

    @_prefix.default
    def _prefix_of_copies(self) -> str:
        return f"{self._files}{os.sep}"

    def holds(self, path: Path) -> bool:
        """See `RemoteFiles.holds`."""
        return str(path).startswith(self._prefix)

    def listing(self, url: str) -> Iterator[RemoteFile]:
        """See `RemoteFiles.listing`."""
        bucket, key = _split(url)
        with driver.accessing(f"The bucket {bucket}"):
            single = self._head(bucket, key) if key and not key.endswith("/") else None
            if single is not None:
                yield self._listed(bucket, key, *single)
                return
            prefix, count = key.rstrip("/"), 0
            for page in driver.pages(self._client(bucket), prefix or None):
                for each in page:
                    count += 1
                    if count > MOST:
                        raise RequestRefused(
                            f"{driver.place(url)} has more than {MOST:,} files. Give the addresses of its folders one "
                            "after the other."
                        )
                    if each["size"] or not each["path"].endswith("/"):
                        version = each["e_tag"] or str(each["last_modified"])
                        yield self._listed(bucket, each["path"], each["size"], version)

    def place(self, url: str) -> Path:
        """See `RemoteFiles.place`."""
        bucket, key = _split(url)
        return self._path(bucket, key if bucket.startswith(_WEB) else key.rstrip("/"))

    def permit(self, url: str, hosts: Collection[str]) -> Path:
        """Permit `hosts` in addition to those of earlier calls, and return the path of the copy of the file at `url`.

        Raise `RequestRefused` if `url` is not valid or contains a user name, or if its host is not permitted.
        """
        netloc = urlsplit(url).netloc
        host = netloc.rpartition("@")[2]
        self._hosts |= {each.lower() for each in hosts}
        if host != netloc:
            raise RequestRefused(
                f"The address of the file on {host} contains a user name or password. Remove it: CiteKit fetches only "
                "files that need none."
            )
        if not host:
            raise RequestRefused(f"{driver.place(url)} names no host. Use an address such as https://HOST/FILE.")
        if host.lower() not in self._hosts:
            raise RequestRefused(
                f"Files from {host} are fetched only if you allow that host: add --allow-host {host} to citekit ingest."
            )
        return self.place(url.partition("#")[0])

    def unchanged(self, path: Path) -> str | None:
        """See `RemoteFiles.unchanged`. No request is sent if the file was just listed."""
        record = self._record(path)
        if record is None:
            return None
        with self._lock:
            version = self._versions.get(path)
        if version is None:
            bucket, key = self._origin(path)
            with driver.accessing(f"The bucket {bucket}"):
                found = self._head(bucket, key, record.hosts)
            version = None if found is None else found[1]
        return record.digest if version and version == record.version else None

    def fetch(self, path: Path) -> None:
        """See `RemoteFiles.fetch`."""
        if not path.is_relative_to(self._files):
            return
        if path.is_file() and self.unchanged(path) is not None:
            self._touch(path)
        else:
            self._fetch(path)
        with self._lock:
            self._versions.pop(path, None)

    def restore(self, path: Path) -> bool:
        """See `RemoteFiles.restore`. Only files that this home has fetched before are fetched."""
        if not path.is_relative_to(self._files) or self._record(path) is None:
            return False
        if path.is_file():
            self._touch(path)
            return True
        with suppress(SourceUnreadable):
            self._fetch(path)
        return path.is_file()

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    def _listed(self, bucket: str, key: str, size: int, version: str) -> RemoteFile:
        path = self._path(bucket, key)
        with self._lock:
            self._versions[path] = version
        return RemoteFile(f"{bucket}/{key}", path, size, version)

    def _path(self, bucket: str, key: str) -> Path:
        scheme, _, name = bucket.partition("://")
        names = key.split("/") if key or bucket.startswith(_WEB) else ()
        return self._files.joinpath(scheme, _name(name), *map(_name, names))

    def _origin(self, path: Path) -> tuple[str, str]:
        """Return the address of the bucket and the key of the file whose copy belongs at `path`."""
        scheme, bucket, *names = path.relative_to(self._files).parts
        key = "/".join("" if name == _EMPTY else unquote(name) for name in names)
        return f"{scheme}://{unquote(bucket)}", key

    def _fetch(self, path: Path) -> None:
        bucket, key = self._origin(path)
        if any(len(name.encode()) > LONGEST_NAME for name in path.relative_to(self._files).parts):
            raise SourceUnreadable(
                f"Cannot read {bucket}/{key}: a part of its address is too long for a file name. Download it yourself "
                "under a shorter name, and map the copy."
            )
        known = self._record(path)
        hosts = self._hosts | (frozenset() if known is None else known.hosts)
        with driver.accessing(f"The bucket {bucket}"):
            found = self._head(bucket, key, hosts)
            if found is None:
                raise SourceUnreadable(f"Cannot read {bucket}/{key}: it does not exist.")
            size, version = found
            if size > self._most:
                raise SourceUnreadable(
                    f"Cannot read {bucket}/{key}: it has {size:,} bytes, but CiteKit fetches at most {self._most:,}. "
                    "Download it yourself, and map the copy."
                )
            digest = self._copied(self._blocks(bucket, key, version, hosts), bucket, key, size, path)
        made = _Record(version, size, digest, hosts if bucket.startswith(_WEB) else frozenset())
        place = self._record_path(path)
        with writing(place):
            make_folder(place.parent)
        code = self._seal.code(*made.parts(path.relative_to(self._files))).hex()
        plain = {"version": version, "size": size, "digest": digest, "hosts": sorted(made.hosts), "code": code}
        write_atomically(place, json.dumps(plain).encode(), durable=False, mode=0o600)
        self._limit()

    @property
    def _most(self) -> int:
        return min(self.largest, self.limit)

    def _copied(self, blocks: Iterator[bytes], bucket: str, key: str, size: int, path: Path) -> str:
        """Copy the blocks of the object to `path`, and return the digest of its bytes."""
        seen, count = hashlib.sha256(), 0
        with writing(path), suppress(FileExistsError, NotADirectoryError):
            make_folder(path.parent)
        if path.is_dir() or not path.parent.is_dir():
            raise _in_conflict(bucket, key, is_folder=path.is_dir())
        with temporary_beside(path) as temporary:
            with writing(path):
                file = temporary.open("xb")
            with file:
                for block in blocks:
                    seen.update(block)
                    count += len(block)
                    with writing(path):
                        file.write(block)
            if size not in (-1, count):
                raise _changed(bucket, key)
            with writing(path):
                temporary.replace(path)
        return seen.hexdigest()

    def _blocks(self, bucket: str, key: str, version: str, hosts: frozenset[str]) -> Iterator[bytes]:
        if bucket.startswith(_WEB):
            yield from self.web(bucket, hosts).blocks(key, self._most)
            return
        try:
            options = {"if_match": version} if '"' in version else {}
            result = driver.repeated(lambda: driver.package().get(self._client(bucket), key, options=options))
            yield from result.stream(min_chunk_size=_BLOCK)
        except Exception as error:
            if driver.kind(error) in (Kind.EXISTS, Kind.MISSING):
                raise _changed(bucket, key) from error
            raise

    def _head(self, bucket: str, key: str, hosts: frozenset[str] = frozenset()) -> tuple[int, str] | None:
        """Return the size in bytes (-1 if unknown) and the version of an object, or None if there is no such object."""
        if bucket.startswith(_WEB):
            return self.web(bucket, hosts).head(key)
        try:
            found = driver.repeated(lambda: driver.package().head(self._client(bucket), key))
        except FileNotFoundError:
            return None
        return found["size"], found["e_tag"] or str(found["last_modified"])

    def _record_path(self, path: Path) -> Path:
        name = hashlib.sha256(str(path.relative_to(self._files)).encode()).hexdigest()
        return self.folder / "versions" / name[:2] / name[2:]

    def _record(self, path: Path) -> _Record | None:
        """Return the record of the copy at `path`, or None if this home has not written one."""
        if not path.is_relative_to(self._files):
            return None
        with suppress(OSError, ValueError, KeyError, TypeError):
            plain = json.loads(read_file(self._record_path(path), 10_000))
            hosts = frozenset(map(str, plain.get("hosts", ())))
            record = _Record(str(plain["version"]), int(plain["size"]), str(plain["digest"]), hosts)
            if self._seal.holds(bytes.fromhex(plain["code"]), *record.parts(path.relative_to(self._files))):
                return record
        return None

    def _client(self, bucket: str) -> Client:
        with self._lock:
            if bucket not in self._clients:
                self._clients[bucket] = driver.connect(bucket)
            return self._clients[bucket]

    def _touch(self, path: Path) -> None:
        """Record the use of a copy in the time of its record, because the times of the copy itself identify its bytes."""
        with suppress(OSError):
            os.utime(self._record_path(path))

    def _limit(self) -> None:
        """Remove the least recently used copies beyond the limit, once in `_EVERY` fetches.

        Copies that were used within the last `GRACE` seconds are kept.
        """
        with self._lock:
            self._fetched += 1
            if (self._fetched - 1) % _EVERY:
                return
        copies = []
        for here, _, names in os.walk(self._files):
            for path in (Path(here, name) for name in names):
                with suppress(OSError):
                    copies.append((self._last_used(path), path.stat().st_size, path))
        total, now = sum(size for _, size, _ in copies), time.time()
        for used, size, path in sorted(copies):
            if total <= self.limit or now - used < GRACE:
                return
            path.unlink(missing_ok=True)
            total -= size

    def _last_used(self, path: Path) -> float:
        with suppress(OSError):
            return self._record_path(path).stat().st_mtime
        return path.stat().st_mtime


def _split(url: str) -> tuple[str, str]:
    """Return the address of the bucket, such as `s3://BUCKET`, or of the `https` host, and the key.

    Raise `RequestRefused` if `url` is not the address of a bucket, a host, or something in it.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if url.startswith(_WEB) and "?" in bucket:
        raise RequestRefused(
            f"The address of the file on {bucket.partition('?')[0]} has no slash after the host. Use an address such as "
            "https://HOST/?QUERY."
        )
    if "@" in bucket:
        raise RequestRefused(
            f"The address {driver.place(url)} contains a user name or password. Remove it, and set the credentials of the "
            "service in environment variables."
        )
    if not (is_remote(url) or url.startswith(_WEB)) or not bucket or "?" in bucket or "#" in bucket:
        raise RequestRefused(
            f"{driver.place(url)} is not the address of a bucket. Use an address such as s3://BUCKET/PREFIX."
        )
    return f"{scheme}://{bucket}", key


def _name(part: str) -> str:
    """Return a part of a key as a portable file name."""
    text = (
        quote(part, safe=_SAFE) if part.isascii() else "".join(c if c > "\x9f" else quote(c, safe=_SAFE) for c in part)
    )
    if part.startswith("."):
        text = "%2E" + text[1:]
    if text.endswith((".", " ")):
        text = f"{text[:-1]}%{ord(text[-1]):02X}"
    return text or _EMPTY


def _in_conflict(bucket: str, key: str, *, is_folder: bool) -> SourceUnreadable:
    """Return the error for an object whose copy cannot be stored, because there is a folder with other copies at its
    path (`is_folder`), or the copy of another object at the path of its folder.
    """
    if bucket.startswith(_WEB):
        why = "continues this address after a slash" if is_folder else "is the beginning of this address"
        return SourceUnreadable(
            f"Cannot read {bucket}/{key}: the address of another fetched file {why}. Download the file yourself, and map "
            "the copy."
        )
    why = (
        "keys of other objects begin with this key and a slash"
        if is_folder
        else "a folder in this key is the key of another object"
    )
    return SourceUnreadable(
        f"Cannot read {bucket}/{key}: {why}. Rename one of the objects, or download this one yourself, and map the copy."
    )


def _changed(bucket: str, key: str) -> SourceUnreadable:
    return SourceUnreadable(
        f"Cannot read {bucket}/{key}: it changed while it was being read. Wait until it is complete."
    )
