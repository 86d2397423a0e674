"""The Gemini API through its SDK (google-genai), which is imported on first use.

Everything that the SDK would read from the environment on its own (base URL, API version, Vertex, replays) is given to
it, so that only our settings decide. Its own retries are off: ours are counted.
"""

from __future__ import annotations

import io
import logging
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.response_limits import limit_body

if TYPE_CHECKING:
    from google import genai

BASE_URL = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"
"""The stable `v1` of the service does not know files and schemas (googleapis/js-genai#1746)."""

SERVER_TIMEOUT = 3600
"""Seconds of the service's own deadline for a whole answer (`X-Server-Timeout`), which the SDK would set to our timeout.

Answers are streamed, and our timeout bounds the silence between two parts of them, not their length.
"""


def connect(key: str, base_url: str | None, timeout: float) -> genai.Client:
    """A client of the service at `base_url` (None: Google's); each wait for bytes is bounded by `timeout` seconds."""
    from google import genai
    from google.genai import types
    from google.genai.client import DebugConfig

    logging.getLogger("google_genai._api_client").addFilter(_does_not_name_key)
    return genai.Client(
        api_key=key,
        vertexai=False,
        debug_config=DebugConfig(client_mode="", replays_directory="", replay_id=""),
        http_options=types.HttpOptions(
            base_url=base_url or BASE_URL,
            api_version=API_VERSION,
            timeout=math.ceil(timeout * 1000),
            headers={"X-Server-Timeout": str(max(SERVER_TIMEOUT, math.ceil(timeout)))},
            retry_options=types.HttpRetryOptions(attempts=1),
            # A redirect would carry the key, which stands in a header of its own, to another host.
            client_args={"follow_redirects": False, "event_hooks": {"response": [limit_body, _raise_without_retry]}},
        ),
    )


def _does_not_name_key(record: logging.LogRecord) -> bool:
    """The SDK says which variable it takes the key from, although it was given one."""
    return "GOOGLE_API_KEY" not in record.getMessage()


def _raise_without_retry(response: Any) -> None:
    """Raise what the SDK would ask about three times more, sleeping between: a chunk whose answer has no upload status."""
    command = response.request.headers.get("x-goog-upload-command", "")
    if not command.startswith("upload") or response.headers.get("x-goog-upload-status"):
        return
    from google.genai import errors

    response.read()
    errors.APIError.raise_for_response(response)
    raise errors.UnknownApiResponseError("the answer to an upload says nothing of the upload")


class Outgoing(io.BufferedReader):
    """A file that is being uploaded: counts what was `sent` of its `size` bytes, and ends the upload when told to.

    `begun` says whether any of it may have gone out; before that, the service knows of no file.

    The SDK sends a file object's size as it was at first, and asks for more until that is reached: a file that became
    shorter meanwhile is an `EOFError` here, where it would be an endless loop there.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self.size = os.fstat(self.fileno()).st_size
        self.sent = 0
        self.begun = self.stopped = False

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes. Raises `EOFError` where the file ended too early, `InterruptedError` where it was stopped."""
        if self.stopped:
            raise InterruptedError("the upload was given up")
        self.begun = True
        self.sent = min(self.tell(), self.size)  # what was read before has been taken
        data = super().read(size)
        if not data and self.tell() < self.size:
            raise EOFError("the file became shorter while it was uploaded")
        return data


def upload(client: genai.Client, file: Outgoing, name: str, media_type: str, base_url: str | None) -> Any:
    """Send a file, and return what the service says of it (`types.File`). Neither the file's own name nor its path are sent.

    `name` is of our choosing: lower-case letters, digits and dashes, at most 40. A `base_url` of the user's also takes the
    chunks, whatever address the service behind it names.
    """
    from google.genai import types

    options = types.HttpOptions(base_url=base_url) if base_url else None
    config = types.UploadFileConfig(name=name, mime_type=media_type, http_options=options)
    return client.files.upload(file=file, config=config)
