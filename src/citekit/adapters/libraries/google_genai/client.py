"""Connects to the Gemini API through its SDK (google-genai), which is imported on first use.

The base URL, the API version, and the settings that turn off Vertex AI and replays are passed, so that environment
variables do not change them. The SDK's retries are off, because CiteKit retries calls itself.
"""

from __future__ import annotations

import io
import logging
import math
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.model_files import imported
from citekit.adapters.libraries.response_limits import limit_body
from citekit.adapters.libraries.trusted_certificates import trusted_certificates

if TYPE_CHECKING:
    from google import genai

BASE_URL = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"
"""The stable `v1` of the service does not support files and schemas (googleapis/js-genai#1746)."""

SERVER_TIMEOUT = 3600
"""Seconds that the service may take for a whole answer (`X-Server-Timeout`), unless the read timeout is longer.

Answers are streamed, and the read timeout, which the SDK would send by default, limits the time between two chunks.
"""


def connect(key: str, base_url: str | None, timeout: float) -> genai.Client:
    """Return a client for the service at `base_url`, or for Google's service if `base_url` is None.

    `timeout` limits each wait for data, in seconds. Some warnings of the SDK are turned off for the whole process.
    Raise `DriverMissing` if the SDK is not installed, or `OSError` if the certificates cannot be read.
    """
    sdk = imported("google.genai", "Using Gemini", "gemini")
    from google.genai import types
    from google.genai.client import DebugConfig

    logging.getLogger("google_genai._api_client").addFilter(_does_not_name_key)
    logging.getLogger("google_genai.types").addFilter(_is_not_about_parts)
    warnings.filterwarnings("ignore", message=r".* is not a valid \w+", module=r"google\.genai\.")
    certificates = trusted_certificates()
    client: genai.Client = sdk.Client(
        api_key=key,
        vertexai=False,
        debug_config=DebugConfig(client_mode="", replays_directory="", replay_id=""),
        http_options=types.HttpOptions(
            base_url=base_url or BASE_URL,
            api_version=API_VERSION,
            timeout=math.ceil(timeout * 1000),
            headers={"X-Server-Timeout": str(max(SERVER_TIMEOUT, math.ceil(timeout)))},
            retry_options=types.HttpRetryOptions(attempts=1),
            # A redirect would send the key, which is in a custom header, to another host.
            client_args={
                "follow_redirects": False,
                "event_hooks": {"response": [limit_body, _raise_without_retry]},
                "verify": certificates,
            },
            async_client_args={"ssl": certificates},  # unused, but the SDK would otherwise create another
        ),
    )
    return client


def _does_not_name_key(record: logging.LogRecord) -> bool:
    """Return False for the SDK's warning about `GOOGLE_API_KEY`, because CiteKit passes the key itself."""
    return "GOOGLE_API_KEY" not in record.getMessage()


def _is_not_about_parts(record: logging.LogRecord) -> bool:
    """Return False for the SDK's warning about answers that are not text, because CiteKit reports these itself."""
    return "non-text parts" not in record.getMessage()


def _raise_without_retry(response: Any) -> None:
    """Raise the error for an upload response without an upload status.

    Without this, the SDK would retry the upload three times with delays.
    """
    command = response.request.headers.get("x-goog-upload-command", "")
    if not command.startswith("upload") or response.headers.get("x-goog-upload-status"):
        return
    from google.genai import errors

    response.read()
    errors.APIError.raise_for_response(response)
    raise errors.UnknownApiResponseError("The response to an upload has no upload status.")


class Outgoing(io.BufferedReader):
    """A file that is being uploaded. `sent` is the number of its `size` bytes that were sent; setting `stopped` aborts.

    Before `begun` is true, the service does not know the file. If the file becomes shorter, reading raises `EOFError`,
    because the SDK would read forever.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self.size = os.fstat(self.fileno()).st_size
        self.sent = 0
        self.begun = self.stopped = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes of the file.

        Raise `EOFError` if the file became shorter, or `InterruptedError` if the upload was stopped.
        """
        if self.stopped:
            raise InterruptedError("The upload was stopped.")
        self.begun = True
        self.sent = min(self.tell(), self.size)  # bytes of earlier reads have been sent
        data = super().read(size)
        if not data and self.tell() < self.size:
            raise EOFError("The file became shorter while it was being uploaded.")
        return data


def upload(client: genai.Client, file: Outgoing, name: str, media_type: str, base_url: str | None) -> Any:
    """Upload `file` without its local name and path, and return the service's description of it (`types.File`).

    `name` is the remote name: at most 40 lowercase letters, digits, and dashes. If `base_url` is set, the data is sent
    there, even if the service returns another upload address.
    """
    from google.genai import types

    options = types.HttpOptions(base_url=base_url) if base_url else None
    config = types.UploadFileConfig(name=name, mime_type=media_type, http_options=options)
    return client.files.upload(file=file, config=config)
