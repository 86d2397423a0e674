"""Extracts messages as .eml files, several messages as a mailbox, and attachments as their original files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from citekit.adapters.formats.mail.reader import MailChapter, mail_chapters
from citekit.adapters.system.files import writing
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import MAIL, OFFICE, Format, by_name
from citekit.domain.locations import Chapter, Location
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

_ACTIVE = "The attachment may be code that a program executes; it was written as plain text, byte for byte."
_MACROS = (
    "The attachment may contain macros; it was written byte for byte, with the suffix .bin, so that it is not opened as "
    "an Office file."
)
_UNKNOWN = "CiteKit does not know the type of the attachment; it was written byte for byte."
_ATTACHMENTS = (
    "A range of chapters that begins with an attachment has no native form, because a mailbox consists of whole messages. "
    "Request one attachment, begin with the message, or choose another form, such as html or text."
)

_READ = frozenset("markdown json jsonl yaml toml csv tsv log calendar bibtex subtitles text".split())  # noqa: SIM905
"""Names of the text formats that programs do not execute."""


class MailExtractor:
    """Extracts whole chapters of mail in their native form. Ranges of characters are extracted as in books."""

    identity = ExtractorIdentity("mail", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. Whole chapters of mail have the native form."""
        whole = isinstance(location, Chapter) and location.chars is None
        return (Form.NATIVE,) if format.name in MAIL and whole else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. The result is either whole messages or one attachment."""
        if not isinstance(location, Chapter) or options.form is not Form.NATIVE:
            raise FormUnsupported(
                f"Messages and attachments are extracted as files only in the native form, not as {options.form.value}."
            )
        progress(0, 1, "reading the messages")
        chapters = mail_chapters(source.path)
        if location.last > len(chapters):
            raise LocationOutside.beyond("chapter", location.last, "file", len(chapters))
        chosen = chapters[location.number - 1 : location.last]
        messages = [each for each in chosen if each.attachment is None]
        if chosen[0].attachment is not None:
            if len(chosen) > 1:
                raise FormUnsupported(_ATTACHMENTS)
            return _attachment(chosen[0], location, target)
        if len(messages) == 1 and all(each.mail is messages[0].mail for each in chosen):
            data, suffix, kind = messages[0].data, ".eml", "message/rfc822"
        else:
            mails = list({id(each.mail): each.mail for each in chosen}.values())
            data, suffix, kind = b"".join(_boxed(mail.raw) for mail in mails), ".mbox", "application/mbox"
        with writing(target):
            target.write_bytes(data)
        return Extraction(suffix=suffix, media_type=kind, extent=location)


def _boxed(raw: bytes) -> bytes:
    """Return a message in mailbox form (RFC 4155), with its own `From ` lines quoted."""
    lines = [b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in raw.splitlines(keepends=True)]
    return b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n" + b"".join(lines).rstrip(b"\r\n") + b"\n\n"


def _attachment(chapter: MailChapter, location: Chapter, target: Path) -> Extraction:
    """Write an attachment byte for byte, under a suffix that does not make the system execute it."""
    suffix = PurePath(chapter.title).suffix.lower()
    known = by_name(f"x{suffix}")
    with writing(target):
        target.write_bytes(chapter.data)
    if known is None or (known.name in OFFICE and suffix.endswith("m")):
        note, suffix = (_UNKNOWN, ".bin") if known is None else (_MACROS, f"{suffix}.bin")
        return Extraction(suffix=suffix, media_type="application/octet-stream", extent=location, notes=(note,))
    if known.modality is Modality.TEXT and (known.name not in _READ or suffix == ".r"):  # a program in R
        return Extraction(suffix=f"{suffix}.txt", media_type="text/plain", extent=location, notes=(_ACTIVE,))
    return Extraction(suffix=suffix, media_type=known.media_type, extent=location)
