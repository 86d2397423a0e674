"""A model service for Gemini, at Google's Generative Language API or a compatible server."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen

from citekit.adapters.libraries.google_genai import client as google_genai
from citekit.adapters.libraries.google_genai import errors, statuses
from citekit.adapters.mappers.llm.gemini.replies import StreamedAnswer, reply_from, usage_of
from citekit.adapters.mappers.llm.gemini.uploads import (
    FILE_BYTES,
    GEMINI_MEDIA_TYPES,
    PDF_BYTES,
    RemoteFiles,
    orphans_note,
)
from citekit.adapters.mappers.llm.messages import (
    Budget,
    FilePart,
    Generation,
    ImagePart,
    Limits,
    Part,
    Question,
    Reply,
    Session,
    SoundPart,
    Spending,
    TextPart,
    charge,
)
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.system.files import unreadable
from citekit.adapters.system.interruptible import attended, uninterrupted
from citekit.adapters.system.retry import Retries, Verdict, tried
from citekit.domain.errors import DriverMissing, MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.modality import Modality
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

_log = logging.getLogger(__name__)

MODEL = "gemini-3.8-flash"
"""The model of the SDK's own examples (google-genai 3.4)."""

VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The environment variables for the key, in order of preference."""

INLINE_IMAGE_BYTES = 4_000_000
INLINE_TOTAL_BYTES = 14_000_000
"""The maximum size in bytes of one picture file, and of all pictures together, in the request itself.

A request has at most 20 MB, and Base64 makes data larger by a third.
"""

CHARACTERS = 400_000
"""The maximum number of characters of text in one request: at one token each, as in Chinese, less than half of a
model's context.
"""

AUDIO_SECONDS = 8 * 3600.0
"""The maximum duration in seconds of an audio file that is sent in one request."""

NATIVE_LIMITS = {
    "pdf": Limits(as_file=True, file_bytes=PDF_BYTES, pages=1000),
    **{name: Limits(as_file=True, file_bytes=FILE_BYTES) for name in ("jpeg", "png", "webp")},
    **{
        name: Limits(as_file=True, file_bytes=FILE_BYTES, seconds=45 * 60.0)
        for name in ("mp4", "quicktime", "webm", "avi", "mpeg", "flv", "wmv", "3gp")
    },
    **{
        name: Limits(as_file=True, file_bytes=FILE_BYTES, seconds=AUDIO_SECONDS)
        for name in ("mp3", "wav", "m4a", "aac", "flac", "ogg", "opus", "aiff")
    },
}
"""Formats that the service accepts as files, by name.

A second of video needs about 300 tokens, and a second of audio 32. A model accepts about a million.
"""


@frozen
class GeminiService:
    """Gemini as a model service.

    `base_url` is the server (None: Google's own). `timeout` is the number of seconds to wait for more of an answer.
    `max_requests` limits the requests of one session (None: no limit). `url_setting` names the option or variable with
    the base URL.
    """

    key: str | None = field(repr=False)
    model: str = MODEL
    base_url: str | None = field(default=None, repr=False)
    timeout: float = 300
    retries: Retries = field(factory=Retries, kw_only=True)
    max_requests: int | None = field(default=None, kw_only=True)
    orphaned_uploads: OrphanedUploads = field(kw_only=True)
    key_variable: str | None = field(default=None, kw_only=True)
    generation: Generation = field(factory=Generation, kw_only=True)
    url_setting: str = field(default="--base-url", kw_only=True)

    @property
    def name(self) -> str:
        """See `Service.name`."""
        return "gemini"

    def limits(self, format: Format) -> Limits | None:
        """See `Service.limits`. Formats that are not accepted as files are sent as text and pictures."""
        if format.modality is Modality.VIRTUAL:
            return None
        seen = NATIVE_LIMITS.get(format.name)
        if seen is not None and format.modality is Modality.AUDIO:
            return evolve(seen, seconds=AUDIO_SECONDS)
        return seen or Limits(as_file=False, characters=CHARACTERS)

    def session(self, budget: Spending | None = None) -> AbstractContextManager[Session]:
        """See `Service.session`. Also raise `DriverMissing` if the SDK is not installed.

        Each request is first counted by `budget` (None: the limit is `max_requests`).
        """
        return self._session(self.checked_key(), budget or Budget(self.max_requests))

    def checked_key(self) -> str:
        """Return the API key without spaces around it. Raise `MapperUnavailable` if it is missing or malformed."""
        key = (self.key or "").strip()
        if not key:
            raise MapperUnavailable(
                f"Gemini needs an API key, but none is set in {' or '.join(VARIABLES)}. Set one (create it at "
                f"{statuses.KEYS_PAGE}), or use --mapper local, which needs no key."
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise MapperUnavailable(
                f"The API key in {self._variables()} contains characters that are not allowed in a key. Copy it again "
                f"from {statuses.KEYS_PAGE}."
            )
        return key

    def _variables(self) -> str:
        return self.key_variable or " or ".join(VARIABLES)

    @contextmanager
    def _session(self, key: str, budget: Spending) -> Iterator[Session]:
        context = statuses.CallContext(
            self.model,
            self.base_url or google_genai.BASE_URL,
            self.timeout,
            self._variables(),
            MODEL,
            key,
            self.url_setting,
        )
        explain = _ErrorExplainer(context)
        client = self._client(key, explain)
        try:
            with self.orphaned_uploads.run() as run:
                files = RemoteFiles(
                    client, explain, self.retries, self.timeout, self.base_url, key, run, self.url_setting
                )
                files.sweep(self.orphaned_uploads)
                try:
                    yield GeminiSession(client, self.model, self.generation, self.retries, explain, files, budget)
                except BaseException as error:
                    uninterrupted(files.delete_all)
                    if left := run.names():
                        error.add_note(orphans_note(left))
                    raise
                else:
                    uninterrupted(files.delete_all)
                    if left := run.names():
                        _log.warning(orphans_note(left))
        finally:
            client.close()

    def _client(self, key: str, explain: _ErrorExplainer) -> genai.Client:
        try:
            return google_genai.connect(key, self.base_url, self.timeout)
        except DriverMissing:
            raise
        except Exception as error:
            failure = explain(error)
            if failure is None:
                raise
            raise failure.error from error


@frozen
class _ErrorExplainer:
    context: statuses.CallContext

    def __call__(self, error: Exception) -> Verdict | None:
        failure = errors.explain(error, self.context)
        return (
            None
            if failure is None
            else Verdict(failure.error, failure.transient, failure.retry_after, failure.timed_out)
        )


@define
class GeminiSession:
    """A session with one Gemini model."""

    _client: genai.Client = field(repr=False)
    _model: str
    _generation: Generation
    _retries: Retries
    _explain: _ErrorExplainer
    _files: RemoteFiles
    _budget: Spending

    def ask(self, question: Question, progress: Progress) -> Reply:
        """See `Session.ask`."""
        contents = self._contents(question, progress)
        config = _config(question, self._generation)
        tries = 0
        broken_off = Usage()

        def request() -> StreamedAnswer:
            nonlocal tries, broken_off
            progress(0, None, f"asking {self._model}")
            self._budget.spend()
            tries += 1
            answer = StreamedAnswer()
            try:
                return attended(
                    lambda: answer.read(
                        self._client.models.generate_content_stream(model=self._model, contents=contents, config=config)
                    ),
                    lambda: progress(answer.characters, None, f"waiting for {self._model}"),
                )
            except BaseException:
                answer.stop()  # the service should not generate an answer that nobody reads
                broken_off += usage_of(answer.usage, 1 if answer.usage is not None else 0)
                raise

        try:
            answer = tried(request, self._explain, self._retries, progress)
        except BaseException as error:
            charge(error, broken_off)
            raise
        return reply_from(answer, self._model, tries, evolve(broken_off, requests=0))

    def _contents(self, question: Question, progress: Progress) -> Any:
        """Return the conversation in the SDK's form. Follow-ups are appended, because Gemini caches common beginnings."""
        from google.genai import types

        contents = [types.Content(role="user", parts=self._parts(question.parts, progress))]
        for turn in question.turns:
            words = types.Content(role="model", parts=[types.Part(text=turn.reply.text)])
            answered = turn.reply.native if isinstance(turn.reply.native, types.Content) else words
            contents += [answered, types.Content(role="user", parts=[types.Part(text=turn.follow_up)])]
        return contents

    def _parts(self, parts: Sequence[Part], progress: Progress) -> list[types.Part]:
        from google.genai import types

        room = INLINE_TOTAL_BYTES
        sendable: list[types.Part] = []
        for part in parts:
            data = _inline(part, room)
            if isinstance(part, TextPart):
                sendable.append(types.Part(text=part.text))
            elif isinstance(part, ImagePart) and part.label:
                sendable.append(types.Part(text=part.label))
            if data is not None and not isinstance(part, TextPart):
                room -= len(data)
                sendable.append(types.Part.from_bytes(data=data, mime_type=part.media_type))
            elif isinstance(part, FilePart):
                sendable.append(self._by_reference(part, progress))
        return sendable

    def _by_reference(self, part: FilePart, progress: Progress) -> Any:
        from google.genai import types

        file = self._files.obtain(part, progress)
        media_type = file.mime_type or GEMINI_MEDIA_TYPES.get(part.media_type, part.media_type)
        return types.Part.from_uri(file_uri=file.uri, mime_type=media_type)


def _inline(part: Part, room: int) -> bytes | None:
    """Return the bytes to include in the request itself, where `room` bytes are left; None for text and for files to
    upload.

    Raise `MapperUnavailable` if an `ImagePart` does not fit, or `SourceUnreadable` if a file cannot be read.
    """
    if isinstance(part, TextPart):
        return None
    if isinstance(part, SoundPart):
        return part.data
    if isinstance(part, ImagePart):
        if len(part.data) > room:
            raise MapperUnavailable(
                f"The pictures of one request exceed the limit of {INLINE_TOTAL_BYTES / 1e6:.0f} MB for Gemini. Map a "
                "smaller file, or use --mapper local."
            )
        return part.data
    try:
        small = part.media_type.startswith("image/") and part.path.stat().st_size <= min(room, INLINE_IMAGE_BYTES)
        return part.path.read_bytes() if small else None
    except OSError as error:
        raise unreadable(error, part.path) from error


def _config(question: Question, wanted: Generation) -> Any:
    """Return the SDK's settings for a request, with only those generation settings that the user chose.

    Gemini 3 repeats itself endlessly at temperatures below its default of 1.0 (Gemini 3 developer guide,
    "Temperature"), and each model has its own thinking level and output limit.
    """
    from google.genai import types

    level = None if wanted.thinking is None else types.ThinkingLevel(wanted.thinking.upper())
    thinking = types.ThinkingConfig(thinking_level=level)
    return types.GenerateContentConfig(
        system_instruction=question.system,
        temperature=wanted.temperature,
        max_output_tokens=wanted.max_output,
        thinking_config=thinking if level is not None else None,
        response_mime_type="application/json",
        response_json_schema=dict(question.schema),
        automatic_continuation=False,  # the SDK would send further requests, which the budget does not count
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
