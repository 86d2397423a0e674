"""Reads messages (RFC 5322), their MIME parts (RFC 2045 to 2049), and mailboxes (RFC 4155) with the standard library.

Nothing in a message is fetched or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email import policy
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.formats.shared.whole_file import read_whole
from citekit.domain.errors import SourceUnsupported

SIZE_LIMIT = 64 * 1024 * 1024
"""The maximum size in bytes of a message or mailbox that is read.

Of a message that cannot be parsed, a sixteenth of this number of bytes is shown.
"""

MESSAGES_LIMIT = 20_000
"""Maximum number of messages in a mailbox."""

PARTS_LIMIT = 500
DEPTH_LIMIT = 20
"""Maximum number of MIME parts of a message, and of levels of nested parts."""

HEADER_LIMIT = 2000
"""The maximum number of characters of a header that are read."""

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,200}\d\d:\d\d[^\r\n]{0,80}\r?\n")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs|antw|tr|r|rv|odp)(?:\[\d+\])?\s*[:\uff1a])+", re.IGNORECASE)
_IDENTIFIER = re.compile(r"<[^<>\s]{1,500}>")
_SHOWN = ("From", "To", "Cc", "Date")


@frozen
class Attachment:
    """A part of a message that is not its body.

    `data` is decoded. `cid` is the Content-ID, by which HTML bodies refer to the part, or "". `inline` is true for a
    part that has a Content-ID and is not declared as an attachment.
    """

    name: str
    media_type: str
    data: bytes = field(repr=False)
    charset: str | None = None
    cid: str = ""
    inline: bool = False

    @property
    def kind(self) -> str:
        """The media type and the size, such as `image/png, 1,200 bytes`."""
        size = len(self.data)
        return f"{self.media_type}, {size:,} byte{'' if size == 1 else 's'}"


@frozen(kw_only=True)
class Mail:
    """A message: its raw bytes, its decoded headers, and its parts.

    `bodies` contains the media type (`text/plain` or `text/html`) and the text of each body. Of alternatives, it
    contains the one that mail programs show. `remarks` are sentences about omitted parts or a failure to parse.
    """

    raw: bytes = field(repr=False)
    headers: dict[str, str]
    bodies: Sequence[tuple[str, str]] = field(converter=tuple[tuple[str, str], ...])
    attachments: Sequence[Attachment] = field(converter=tuple[Attachment, ...])
    remarks: Sequence[str] = field(default=(), converter=tuple[str, ...])

    @property
    def subject(self) -> str:
        """The subject, or "(no subject)"."""
        return self.headers.get("subject", "") or "(no subject)"

    @property
    def topic(self) -> str:
        """The subject without the prefixes of replies and forwarded messages, in lowercase."""
        return " ".join(_REPLY.sub("", self.subject).split()).casefold()

    @property
    def shown_headers(self) -> Iterator[tuple[str, str]]:
        """The name and the text of each header that a reader sees above the body."""
        return ((name, self.headers[name.lower()]) for name in _SHOWN if self.headers.get(name.lower()))


def read_mails(path: Path, *, mailbox: bool) -> list[list[Mail]]:
    """Return the threads of a mailbox, or one thread with the message of an `.eml` file.

    Threads are in the order of their first messages. Raise `SourceUnsupported` if the file is too large, or if a
    mailbox has no messages or more than `MESSAGES_LIMIT`, and `SourceUnreadable` if the file cannot be read.
    """
    data = read_whole(path, SIZE_LIMIT)
    if not mailbox:
        return [[parse_mail(data)]]
    starts = list(_SEPARATOR.finditer(data))
    if not starts:
        raise SourceUnsupported(f"{path.name} is not a mailbox: it has no 'From ' line that begins a message.")
    if len(starts) > MESSAGES_LIMIT:
        raise SourceUnsupported(
            f"{path.name} has {len(starts)} messages; the limit is {MESSAGES_LIMIT}. Split it into smaller mailboxes."
        )
    ends = [*(each.start() for each in starts[1:]), len(data)]
    return _threads(
        [parse_mail(_QUOTED_FROM.sub(rb"\1", data[start.end() : end])) for start, end in zip(starts, ends, strict=True)]
    )


def _threads(mails: Sequence[Mail]) -> list[list[Mail]]:
    """Group messages by the message that they reply to, or else by the subject of a reply."""
    threads: list[list[Mail]] = []
    by_id: dict[str, list[Mail]] = {}
    by_topic: dict[str, list[Mail]] = {}
    for mail in mails:
        named = " ".join(mail.headers.get(name, "") for name in ("in-reply-to", "references"))
        thread = next((by_id[each] for each in reversed(_IDENTIFIER.findall(named)) if each in by_id), None)
        if thread is None and _REPLY.match(mail.subject):
            thread = by_topic.get(mail.topic)
        if thread is None:
            thread = []
            threads.append(thread)
        thread.append(mail)
        by_topic.setdefault(mail.topic, thread)
        for own in _IDENTIFIER.findall(mail.headers.get("message-id", ""))[:1]:
            by_id.setdefault(own, thread)
    return threads


def parse_mail(raw: bytes) -> Mail:
    """Return the message with these bytes. If it cannot be parsed, its raw text is its body."""
    try:
        message = BytesParser(policy=policy.compat32).parsebytes(raw)
        headers: dict[str, str] = {}
        for name, value in message.raw_items():
            headers.setdefault(name.lower(), _decoded(str(value)))
        reading = _Reading()
        reading.add(message, 0)
    except (MessageError, RecursionError, ValueError, LookupError, TypeError, AttributeError):
        text = raw[: SIZE_LIMIT // 16].decode("utf-8", "replace")
        return Mail(raw=raw, headers={}, bodies=[("text/plain", text)], attachments=(), remarks=(_DAMAGED,))
    return Mail(
        raw=raw, headers=headers, bodies=reading.bodies, attachments=reading.attachments, remarks=reading.remarks
    )


_DAMAGED = "A message cannot be parsed; its raw text is shown."
_TOO_MANY = f"A message has more than {PARTS_LIMIT} parts or {DEPTH_LIMIT} levels of parts; the rest is omitted."


class _Reading:
    def __init__(self) -> None:
        self.bodies: list[tuple[str, str]] = []
        self.attachments: list[Attachment] = []
        self.remarks: list[str] = []
        self._left = PARTS_LIMIT

    def add(self, part: Message, depth: int) -> None:
        self._left -= 1
        if self._left < 0 or depth > DEPTH_LIMIT:
            self.remarks = [_TOO_MANY]
            return
        kind = part.get_content_type()
        if kind == "message/rfc822":
            self._forwarded(part)
        elif part.is_multipart():
            below = [each for each in part.get_payload() if isinstance(each, Message)]
            for each in _shown_of(below) if kind == "multipart/alternative" else below:
                self.add(each, depth + 1)
        else:
            self._leaf(part, kind)

    def _leaf(self, part: Message, kind: str) -> None:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        name = _decoded(part.get_filename() or "")
        charset = part.get_content_charset()
        inline = part.get_content_disposition() != "attachment"
        if kind.startswith("multipart/"):  # the parts cannot be separated
            self.bodies.append(
                ("text/plain", text_of(str(part.get_payload()).encode("utf-8", "surrogateescape"), None))
            )
            return
        if inline and not name and kind in ("text/plain", "text/html"):
            self.bodies.append((kind, text_of(data, charset)))
            return
        cid = str(part.get("Content-ID") or "").strip().strip("<>")
        self.attachments.append(Attachment(name or _unnamed(kind), kind, data, charset, cid, inline and bool(cid)))

    def _forwarded(self, part: Message) -> None:
        inner = part.get_payload()
        message = inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Message) else None
        data = message.as_bytes() if message is not None else b""
        subject = _decoded(str(message.get("Subject") or "")) if message is not None else ""
        name = _decoded(part.get_filename() or "") or f"{subject or 'message'}.eml"
        self.attachments.append(Attachment(name, "message/rfc822", data))


def _shown_of(alternatives: Sequence[Message]) -> Sequence[Message]:
    """Return the alternative that mail programs show: the last one that is HTML, plain text, or multipart (RFC 2046,
    5.1.4).

    Alternatives that are neither text nor multipart follow it. Without such an alternative, return all.
    """
    for each in reversed(alternatives):
        if each.get_content_type() in ("text/html", "text/plain") or each.is_multipart():
            others = [other for other in alternatives if other.get_content_maintype() not in ("text", "multipart")]
            return [each, *others]
    return alternatives


def _unnamed(kind: str) -> str:
    return {"text/calendar": "invitation.ics", "text/html": "part.html", "text/plain": "part.txt"}.get(kind, "unnamed")


def text_of(data: bytes, charset: str | None) -> str:
    """Decode `data` with `charset`, or else as UTF-8, or else as windows-1252. CR LF becomes a line feed."""
    for encoding in (charset or "utf-8", "utf-8"):
        with suppress(LookupError, UnicodeError, ValueError):
            return data.decode(encoding).replace("\r\n", "\n")
    return data.decode("windows-1252", "replace").replace("\r\n", "\n")


def _decoded(value: str) -> str:
    """Return a header on one line, with its encoded words (RFC 2047) decoded."""
    value = (
        " ".join(value.encode("ascii", "surrogateescape").decode("utf-8", "replace").split())
        if _is_raw(value)
        else value
    )
    value = value[:HEADER_LIMIT]
    if "=?" not in value:
        return " ".join(value.split())
    with suppress(MessageError, LookupError, UnicodeError, ValueError):
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())


def _is_raw(value: str) -> bool:
    """Return whether a header contains raw bytes, which the parser turns into surrogates, and otherwise only ASCII."""
    return any("\udc80" <= character <= "\udcff" for character in value) and all(
        character < "\x80" or "\udc80" <= character <= "\udcff" for character in value
    )
