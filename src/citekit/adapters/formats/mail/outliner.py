"""Outlines mail by threads, messages, and attachments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from citekit.adapters.formats.mail.reader import MailChapter, mail_chapters
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.domain.extent import Extent
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, Reader
from citekit.domain.progress import Progress
from citekit.domain.source import Source

ATTACHMENTS_LIMIT = 1000
"""Maximum number of attachments that the metadata lists."""

_SUMMARY_FROM = 3000


class MailOutliner:
    """Outlines the messages and mailboxes that `reader` reads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are threads of several messages, messages, and attachments."""
        progress(0, 1, "reading the messages")
        book = self._reader.read(source.path)
        chapters = mail_chapters(source.path)
        mails = [each.mail for each in chapters if each.attachment is None]
        lengths = tuple(len(chapter.text) for chapter in book.chapters)
        files = [each.attachment for each in chapters if each.attachment is not None]
        return Outline(
            title=book.title,
            extent=Extent(chapters=lengths),
            items=_items(chapters, book),
            facts={
                "chapter_count": len(lengths),
                "chapter_lengths": list(lengths),
                "authors": list(book.authors),
                "message_count": len(mails),
                "attachments": [
                    {"name": each.name, "media_type": each.media_type, "size": len(each.data)}
                    for each in files[:ATTACHMENTS_LIMIT]
                ],
            },
            notes=tuple(dict.fromkeys(remark for mail in mails for remark in mail.remarks)),
        )


def _items(chapters: Sequence[MailChapter], book: Book) -> Iterator[OutlineItem]:
    for _, numbered in groupby(enumerate(chapters, 1), key=lambda each: each[1].thread):
        thread = list(numbered)
        messages = list(_messages(thread, book))
        if len(messages) == 1:
            yield from messages
        else:
            span = Chapter(thread[0][0], last=thread[-1][0])
            yield OutlineItem(thread[0][1].title, "thread", span, f"{len(messages)} messages", messages)


def _messages(thread: list[tuple[int, MailChapter]], book: Book) -> Iterator[OutlineItem]:
    starts = [place for place, (_, chapter) in enumerate(thread) if chapter.attachment is None]
    for start, end in zip(starts, [*starts[1:], len(thread)], strict=True):
        number, chapter = thread[start]
        below = [
            OutlineItem(each.title, "attachment", Chapter(place), _kind(each))
            for place, each in thread[start + 1 : end]
        ]
        own = OutlineItem(chapter.title, "message", Chapter(number), _summary(chapter, book.chapters[number - 1].text))
        if below:
            body = OutlineItem("Message", "body", Chapter(number), own.summary)
            yield OutlineItem(
                own.title, "message", Chapter(number, last=thread[end - 1][0]), own.summary, [body, *below]
            )
        else:
            yield own


def _kind(chapter: MailChapter) -> str:
    attachment = chapter.attachment
    return attachment.kind if attachment else ""


def _summary(chapter: MailChapter, text: str) -> str:
    """Return the sender, the date, and the first sentence of a message."""
    headers = chapter.mail.headers
    lines = text[:_SUMMARY_FROM].split("\n")[1 + len(list(chapter.mail.shown_headers)) :]
    sender = ", ".join(filter(None, (headers.get("from"), headers.get("date"))))
    return ": ".join(filter(None, (sender, first_sentence(lines))))
