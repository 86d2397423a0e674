"""Converts a question to the messages of a chat completion."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Part, Question, SoundPart, TextPart, Turn
from citekit.adapters.mappers.llm.openai.capabilities import AnswerFormat, Capabilities, RequestFeatures
from citekit.adapters.mappers.llm.openai.failures import Endpoint
from citekit.domain.errors import MapperUnavailable, SourceUnreadable

FILE_BYTES = 50_000_000
"""The maximum size in bytes of all files of one request together ("File inputs": 50 MB)."""

PDF = "application/pdf"
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""The types of pictures that the API accepts ("Images and vision": PNG, JPEG, WEBP, GIF without animation)."""

_SCHEMA_INSTRUCTION = "Answer with one JSON object and nothing else. It must conform to this JSON Schema:\n"


@frozen(kw_only=True)
class ChatMessages:
    """The messages of a request, the optional features that they use (`sent`), and `notes` for the user.

    `characters` counts the text of the system prompt and of the question; `in_files`, the text of files that the server
    might ignore.
    """

    messages: list[dict[str, Any]]
    sent: RequestFeatures
    notes: tuple[str, ...]
    characters: int
    in_files: int


@frozen(kw_only=True)
class MessageWriter:
    """Writes questions as messages in a form that the server accepts.

    `extract_text` returns the text of a PDF.
    """

    endpoint: Endpoint
    extract_text: Callable[[Path], str] | None

    def written(self, question: Question, capabilities: Capabilities, *, temperature: bool) -> ChatMessages:
        """Return the messages for `question`, with only the features in `capabilities`.

        `temperature` is whether the user has set one. Raise `MapperUnavailable` if the files are too large or no form
        of the question suits the server, or `SourceUnreadable` if a file cannot be read.
        """
        self._check_size(question)
        content = [item for part in question.parts for item in self._content_items(part, capabilities)]
        system = (
            question.system
            if capabilities.form is AnswerFormat.SCHEMA
            else f"{question.system}\n\n{_schema_instruction(question)}"
        )
        turns = [message for turn in question.turns for message in _turn_messages(turn)]
        kinds = {item["type"] for item in content}
        sent = RequestFeatures(
            files="file" in kinds,
            images="image_url" in kinds,
            temperature=temperature and capabilities.temperature,
            form=capabilities.form,
        )
        return ChatMessages(
            messages=[
                {"role": "system", "content": system},
                {"role": "user", "content": _joined_text(content)},
                *turns,
            ],
            sent=sent,
            notes=tuple(self._notes(question, capabilities, temperature=temperature)),
            characters=len(system) + sum(len(item.get("text", "")) for item in content),
            in_files=sum(len(self._text(part)) for part in _pdfs(question)) if self._doubtful(sent) else 0,
        )

    def _doubtful(self, sent: RequestFeatures) -> bool:
        """Return whether the request contains a file that the server might silently ignore."""
        return sent.files and not self.endpoint.hosted and self.extract_text is not None

    def _content_items(self, part: Part, capabilities: Capabilities) -> Iterator[dict[str, Any]]:
        match part:
            case TextPart(text):
                yield _text_content(text)
            case ImagePart(data, media_type, label):
                if label:
                    yield _text_content(label if capabilities.images else f"{label} (omitted)")
                if capabilities.images:
                    yield _image_content(data, media_type)
            case FilePart(path, media_type) if media_type in IMAGE_TYPES:
                if not capabilities.images:
                    raise MapperUnavailable(
                        f"{self.endpoint.label} accepts no pictures for the model {self.endpoint.model!r}. Choose a "
                        "model that supports images (--model)."
                    )
                yield _image_content(_read(path), media_type)
            case FilePart(path, media_type) if media_type == PDF:
                yield _file_content(path) if capabilities.files else _text_content(self._in_words(path))
            case SoundPart(_, media_type):
                raise MapperUnavailable(
                    f"{self.endpoint.label} does not accept {media_type} in a request. Use another model for speech "
                    "(CITEKIT_SPEECH_MODEL)."
                )
            case FilePart(path, media_type):
                raise MapperUnavailable(
                    f"{self.endpoint.label} accepts no {media_type} files, so {path.name!r} cannot be sent. Map it "
                    "with another service (--mapper gemini), or without a model (--mapper local)."
                )

    def _in_words(self, path: Path) -> str:
        text = self.extract_text(path) if self.extract_text is not None else ""
        if not text.strip():
            raise MapperUnavailable(
                f"{self.endpoint.label} accepts no files, and {path.name!r} has no text to send instead. Choose a "
                "service that accepts PDF files, or map without a model (--mapper local)."
            )
        return f"The text of the file {path.name}:\n{text}"

    def _text(self, part: FilePart) -> str:
        return self.extract_text(part.path) if self.extract_text is not None else ""

    def _notes(self, question: Question, capabilities: Capabilities, *, temperature: bool) -> Iterator[str]:
        label = self.endpoint.label
        if temperature and not capabilities.temperature:
            yield f"{label} accepts no temperature for the model {self.endpoint.model!r}, so the model's default was used."
        if not capabilities.files and (pdfs := list(_pdfs(question))):
            names = ", ".join(repr(part.path.name) for part in pdfs)
            yield f"{label} accepts no files, so only the text of {names} was sent, without pictures."
        left_out = sum(isinstance(part, ImagePart) for part in question.parts)
        if not capabilities.images and left_out:
            yield (
                f"{label} accepts no pictures for the model {self.endpoint.model!r}, so the pictures of the request "
                f"({left_out}) were left out."
            )
        if capabilities.form is AnswerFormat.JSON:
            yield f"{label} does not enforce a schema, so the request asked for JSON and included the schema in the prompt."
        if capabilities.form is AnswerFormat.WORDS:
            yield f"{label} has no JSON mode, so only the prompt asked for JSON."

    def _check_size(self, question: Question) -> None:
        sizes = [(_size(part.path), part.path.name) for part in question.parts if isinstance(part, FilePart)]
        total = sum(size for size, _ in sizes)
        if total > FILE_BYTES:
            _, name = max(sizes)
            raise MapperUnavailable(
                f"The request with {name!r} contains {total / 1e6:.1f} MB of files, but the limit for one request is "
                f"{FILE_BYTES // 1_000_000} MB. Map a smaller file, or map without a model (--mapper local)."
            )


def _turn_messages(turn: Turn) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": turn.reply.text}
    yield {"role": "user", "content": turn.follow_up}


def _pdfs(question: Question) -> Iterator[FilePart]:
    return (part for part in question.parts if isinstance(part, FilePart) and part.media_type == PDF)


def _schema_instruction(question: Question) -> str:
    return _SCHEMA_INSTRUCTION + json.dumps(question.schema, ensure_ascii=False)


def _joined_text(content: list[dict[str, Any]]) -> Any:
    """Return content that is only text as one string, which all servers accept."""
    if all(item["type"] == "text" for item in content):
        return "\n\n".join(item["text"] for item in content)
    return content


def _text_content(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image_content(data: bytes, media_type: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": _data_uri(data, media_type)}}


def _file_content(path: Path) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": path.name, "file_data": _data_uri(_read(path), PDF)}}


def _data_uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise SourceUnreadable(f"{path.name!r} could not be read: {error.strerror or error}.") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{path.name!r} could not be read: {error.strerror or error}.") from error
