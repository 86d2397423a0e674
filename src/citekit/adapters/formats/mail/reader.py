"""Presents mail as a book: a chapter for each message, and one after it for each attachment that is not inline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from citekit.adapters.formats.epub.markup_books import MarkupBook, MarkupReader, Part
from citekit.adapters.formats.epub.toc import Entry
from citekit.adapters.formats.mail.messages import Attachment, Mail, parse_mail, read_mails, text_of
from citekit.adapters.libraries.lxml import local_name, parse_html
from citekit.domain.errors import SourceUnsupported
from citekit.domain.library.books import BookFacts

if TYPE_CHECKING:
    from lxml.etree import _Element


CACHED_SIZE = 32_000_000
"""Maximum size, in bytes, of a file whose messages are cached until another file is read."""


@frozen
class MailChapter:
    """A chapter of mail: a message, or one of its attachments.

    `thread` is the index of its thread, from 0.
    """

    thread: int
    mail: Mail = field(repr=False)
    attachment: Attachment | None = None

    @property
    def title(self) -> str:
        """The subject of the message, or the name of the attachment."""
        return self.attachment.name if self.attachment else self.mail.subject

    @property
    def data(self) -> bytes:
        """The bytes of the message or of the attachment."""
        return self.attachment.data if self.attachment else self.mail.raw

    def root(self) -> _Element:
        """Return the markup of the chapter."""
        return _of_attachment(self.attachment) if self.attachment else _of_message(self.mail)


def mail_chapters(path: Path) -> Sequence[MailChapter]:
    """Return the messages and attachments of the file at `path`. Raise the same errors as `read_mails`."""
    try:
        state = path.stat()
    except OSError:
        return tuple(_chapters(path))  # raises the error that explains the problem
    seal = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    return _cached(path, seal) if state.st_size <= CACHED_SIZE else tuple(_chapters(path))


@lru_cache(maxsize=1)
def _cached(path: Path, _seal: tuple[int, ...]) -> tuple[MailChapter, ...]:
    return tuple(_chapters(path))


def _chapters(path: Path) -> Iterator[MailChapter]:
    for number, thread in enumerate(read_mails(path, mailbox=path.suffix.lower() != ".eml")):
        for mail in thread:
            yield MailChapter(number, mail)
            for attachment in mail.attachments:
                if not attachment.inline:
                    yield MailChapter(number, mail, attachment)


def mail_reader(*, as_seen: bool = False) -> MarkupReader:
    """Return a reader of mail. For `as_seen`, see `MarkupReader`."""
    return MarkupReader(load, read_facts, as_seen)


def read_facts(path: Path) -> BookFacts:
    """Return the subject and the sender of a single message; neither for several messages. Raise the errors of `load`."""
    return _facts(mail_chapters(path))


def load(path: Path) -> MarkupBook:
    """Return the messages of the file at `path` as a book. Raise the same errors as `read_mails`."""
    chapters = mail_chapters(path)
    names = [f"part-{number}" for number in range(1, len(chapters) + 1)]
    pictures = {each.cid: each for chapter in chapters for each in chapter.mail.attachments if each.cid}

    def picture(href: str) -> tuple[bytes, str] | None:
        found = pictures.get(href.removeprefix("cid:")) if href.startswith("cid:") else None
        return (found.data, found.media_type) if found else None

    return MarkupBook(
        facts=_facts(chapters),
        parts=[Part(name, chapter.root) for name, chapter in zip(names, chapters, strict=True)],
        contents=[Entry(1, each.title, name, "") for name, each in zip(names, chapters, strict=True)],
        picture=picture,
    )


def _facts(chapters: Sequence[MailChapter]) -> BookFacts:
    mails = [each.mail for each in chapters if each.attachment is None]
    title = mails[0].subject if len(mails) == 1 else None
    authors = [mails[0].headers["from"]] if len(mails) == 1 and mails[0].headers.get("from") else []
    return BookFacts(title=title, authors=authors)


def _of_message(mail: Mail) -> _Element:
    """Return the headers that a reader sees, and the bodies with their style sheets."""
    head = [f"<h1>{escape(mail.subject)}</h1>"]
    head += [f"<p>{name}: {escape(text)}</p>" for name, text in mail.shown_headers]
    root = parse_html("".join(head) + "<div></div>", "the message")
    body = next((each for each in root.iter() if local_name(each) == "body"), root)
    for kind, text in mail.bodies:
        for element in _html_body(text) if kind == "text/html" else (_plain(text),):
            body.append(element)
    return root


def _html_body(text: str) -> Iterator[_Element]:
    try:
        root = parse_html(text, "the message")
    except SourceUnsupported:
        yield _plain(text)
        return
    styles = [each for each in root.iter() if local_name(each) == "style"]
    bodies = [each for each in root.iter() if local_name(each) == "body"]
    yield from (each for each in styles if not _is_below(each, bodies))
    for each in bodies or [root]:
        each.tag = "div"
        yield each


def _is_below(element: _Element, bodies: list[_Element]) -> bool:
    return any(above in bodies for above in element.iterancestors())


def _plain(text: str) -> _Element:
    from lxml import etree

    root = etree.Element("pre")
    root.text = "".join(each for each in text if each in "\n\t" or each.isprintable() or each == "\u00ad")
    return root


def _of_attachment(attachment: Attachment) -> _Element:
    shown = f"<h1>{escape(attachment.name)}</h1><p>{escape(attachment.kind)}</p>"
    root = parse_html(shown, "the attachment")
    body = next((each for each in root.iter() if local_name(each) == "body"), root)
    read = _READ.get(attachment.media_type) or (_text if attachment.media_type.startswith("text/") else None)
    for element in read(attachment) if read else ():
        body.append(element)
    return root


def _text(attachment: Attachment) -> Iterator[_Element]:
    yield _plain(text_of(attachment.data, attachment.charset))


def _html(attachment: Attachment) -> Iterator[_Element]:
    yield from _html_body(text_of(attachment.data, attachment.charset))


def _message(attachment: Attachment) -> Iterator[_Element]:
    root = _of_message(parse_mail(attachment.data))
    bodies = [each for each in root.iter() if local_name(each) == "body"]
    for each in bodies or [root]:
        each.tag = "div"
        yield each


_READ: dict[str, Callable[[Attachment], Iterator[_Element]]] = {
    "text/html": _html,
    "message/rfc822": _message,
}
"""Functions that return the markup of attachments, by media type. Other text is shown as plain text."""
