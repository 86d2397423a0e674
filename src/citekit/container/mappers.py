"""Creates mappers: the local one, those that use a model, those of installed packages, and custom ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from citekit.container.base_url import source_of_base_url
from citekit.container.names import ANSWERS, MAPPERS, MODEL_MAPPERS, REQUEST_TIMEOUT
from citekit.domain.errors import RequestRefused
from citekit.settings.secrets import concealed, without_user

if TYPE_CHECKING:
    from citekit.adapters.mappers.llm.file_views import Viewer
    from citekit.adapters.mappers.llm.messages import Generation, Service
    from citekit.container.readers import Readers
    from citekit.domain.ports.answer_model import AnswerModel
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.reranker import Reranker
    from citekit.domain.source import Source


RERANKED = 200
"""The default maximum number of questions per process for which a model reranks pages."""


@frozen
class Mappers:
    """Creates mappers by name or from objects."""

    app: Readers

    def called(self, name: str, config: Mapping[str, object] | None = None) -> Mapper:
        """Return the mapper with that name, or the one in the Python file whose path is `name`.

        The name `auto` selects a mapper as `choice` describes. Other names are those of built-in mappers or of entry
        points of installed packages. `config` is passed to the constructor of a custom mapper. Raise `RequestRefused`
        if there is no such mapper, if a built-in mapper is given a `config`, or if a custom mapper cannot be loaded.
        """
        if name.endswith(".py"):
            from citekit.adapters.mappers.custom import load_mapper

            return load_mapper(
                Path(name).absolute(), config or {}, self.app.local_mapper, timeout=self.app.settings.timeout
            )
        if name not in MAPPERS:
            return self._installed(name, config or {})
        if config:
            raise RequestRefused(
                f"The mapper '{name}' accepts no configuration object. Use options and environment variables instead."
            )
        chosen = self.choice()[0] if name == "auto" else name
        return self.app.local_mapper if chosen == "local" else self._model(chosen)

    def choice(self) -> tuple[str, str]:
        """Return the name of the mapper that `auto` selects with the current settings, and the reason for the choice."""
        if self.app.settings.gemini_key is not None:
            return "gemini", f"{self.app.settings.gemini_variable} is set"
        if self.app.settings.openai_key is not None:
            return "openai", f"{self.app.settings.openai_variable} is set"
        return "local", "no model key is set"

    def answer_model(self, name: str = "auto") -> AnswerModel | None:
        """Return the model of the service `gemini` or `openai` that answers questions, or None for any other name.

        The name `auto` means the service of the configured mapper.
        """
        if name == "auto":
            name = self.app.settings.mapper
        if name == "auto":
            name = self.choice()[0]
        if name not in MODEL_MAPPERS:
            return None
        from citekit.adapters.mappers.llm.question_answerer import ModelAnswerer

        return ModelAnswerer(self._service(name), concealed)

    def model_reranker(self) -> Reranker:
        """Return the reranker that asks the model of the configured mapper.

        Raise `RequestRefused` if that mapper uses no model.
        """
        name = self.app.settings.mapper
        name = self.choice()[0] if name == "auto" else name
        if name not in MODEL_MAPPERS:
            raise RequestRefused(
                "The reranker 'model' needs a mapper with a model. Set OPENAI_API_KEY or GEMINI_API_KEY, and set "
                "CITEKIT_MAPPER to auto, gemini, or openai."
            )
        from citekit.adapters.mappers.llm.messages import Budget
        from citekit.adapters.mappers.llm.question_reranker import ModelReranker

        return ModelReranker(self._service(name), Budget(self.app.settings.max_requests or RERANKED), concealed)

    def _service(self, name: str) -> Service:
        return self._gemini() if name == "gemini" else self._openai()

    def _model(self, name: str) -> Mapper:
        from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
        from citekit.adapters.formats.media.evidence.previews import FileClips
        from citekit.adapters.mappers.llm.answer_cache import FileAnswerCache
        from citekit.adapters.mappers.llm.mapper import ModelMapper

        service = self._service(name)
        named = self.app.settings.base_url or (self.app.settings.openai_base_url if name == "openai" else None)
        where = without_user(named)  # the URL is recorded in every map that this mapper makes
        viewer, still = self._showing()
        return ModelMapper(
            service=service,
            local=self.app.local_mapper,
            reader=self.app.reader,
            probe=self.app.probe,
            viewer=viewer,
            model_name=f"{service.model}@{urlsplit(where).netloc or where}" if where else None,
            max_requests=self.app.settings.max_requests,
            stills=lambda path, seconds: still(self.app.sources.identify(path), seconds),
            concurrency=self.app.settings.model_concurrency,
            files=self.app.settings.concurrency,
            cache=FileAnswerCache(self.app.settings.cache_folder / ANSWERS),
            generation=self._generation(),
            redact=concealed,
            clips=FileClips(self.app.sources, self.app.isolated("clips", PyAvClipExtractor())),
        )

    @property
    def viewer(self) -> Viewer:
        """The viewer that prepares files for a model."""
        return self._showing()[0]

    def _showing(self) -> tuple[Viewer, Callable[[Source, float], bytes]]:
        """Return the viewer that prepares files for a model, and a function that extracts a still from a video.

        The function takes the source and a time in seconds, and returns the bytes of a JPEG.
        """
        if self.app.workers is None:
            return self.app.parsers.viewer, self.app.parsers.still
        from citekit.adapters.sandbox.sandboxed_files import IsolatedViewer

        viewer = IsolatedViewer(self.app.workers)
        return viewer, viewer.still

    def _gemini(self) -> Service:
        from citekit.adapters.mappers.llm.gemini.service import MODEL, GeminiService
        from citekit.adapters.system.retry import Retries

        chosen = self.app.settings
        return GeminiService(
            chosen.gemini_key,
            chosen.model or MODEL,
            chosen.base_url,
            chosen.timeout or REQUEST_TIMEOUT,
            retries=Retries(count=chosen.retries),
            max_requests=chosen.max_requests,
            orphaned_uploads=self.app.leftovers,
            key_variable=chosen.gemini_variable,
            generation=self._generation(),
            url_setting=source_of_base_url(chosen),
        )

    def _openai(self) -> Service:
        from citekit.adapters.mappers.llm.openai.service import DEFAULT_MODEL, OpenAiService
        from citekit.adapters.system.retry import Retries

        chosen = self.app.settings
        return OpenAiService(
            chosen.openai_key,
            chosen.model or DEFAULT_MODEL,
            chosen.base_url or chosen.openai_base_url,
            chosen.timeout or REQUEST_TIMEOUT,
            Retries(count=chosen.retries),
            chosen.max_requests,
            self.viewer.paged_text,
            self._generation(),
            "OPENAI_BASE_URL" if chosen.openai_base_url and not chosen.base_url else source_of_base_url(chosen),
        )

    def _generation(self) -> Generation:
        from citekit.adapters.mappers.llm.messages import Generation

        chosen = self.app.settings
        return Generation(temperature=chosen.temperature, thinking=chosen.thinking, max_output=chosen.max_output)

    def of_object(self, provider: object) -> Mapper:
        """Return a mapper that calls the `generate_map` method of `provider`.

        Raise `RequestRefused` if the object has no such method.
        """
        from citekit.adapters.mappers.custom import wrap_mapper

        return wrap_mapper(provider, self.app.local_mapper, timeout=self.app.settings.timeout)

    def _installed(self, name: str, config: Mapping[str, object]) -> Mapper:
        from citekit.adapters.mappers.custom import installed_mapper, installed_names

        found = installed_mapper(name, config, self.app.local_mapper, timeout=self.app.settings.timeout)
        if found is None:
            known = ", ".join([*MAPPERS, *(each for each, _ in installed_names())])
            raise RequestRefused(f"There is no mapper named '{name}'. Use one of: {known}, or the path of a .py file.")
        return found
