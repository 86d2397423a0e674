"""Creates the service that recognizes speech, if the user chose one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.container.base_url import source_of_base_url
from citekit.container.names import REQUEST_TIMEOUT

if TYPE_CHECKING:
    from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
    from citekit.adapters.mappers.llm.transcription import SpeechService
    from citekit.settings import Settings


def speech_service_of(chosen: Settings, orphaned_uploads: OrphanedUploads) -> SpeechService:
    """Return the service that `chosen.speech_service` names."""
    from citekit.adapters.system.retry import Retries

    service, _, model = chosen.speech_service.partition(":")
    timeout, retries = chosen.timeout or REQUEST_TIMEOUT, Retries(count=chosen.retries)
    language = chosen.speech_language or None
    urls = {"CITEKIT_SPEECH_URL": chosen.speech_url, source_of_base_url(chosen): chosen.base_url}
    if service == "openai":
        urls["OPENAI_BASE_URL"] = chosen.openai_base_url
    url_variable, base_url = next(((name, url) for name, url in urls.items() if url), ("CITEKIT_SPEECH_URL", None))
    if service == "gemini":
        from citekit.adapters.mappers.llm.gemini.service import GeminiService
        from citekit.adapters.mappers.llm.gemini.transcription import GeminiSpeech

        asked = GeminiService(
            chosen.gemini_key,
            model,
            base_url,
            timeout,
            retries=retries,
            orphaned_uploads=orphaned_uploads,
            key_variable=chosen.gemini_variable,
        )
        return GeminiSpeech(service=asked, language=language, url_variable=url_variable)
    from citekit.adapters.mappers.llm.openai.transcription import OpenAiSpeech

    return OpenAiSpeech(
        model=model,
        key=chosen.openai_key,
        base_url=base_url,
        language=language,
        timeout=timeout,
        retries=retries,
        url_variable=url_variable,
    )
