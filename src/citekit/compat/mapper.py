"""Provides `MapperProvider` and `GeminiMapper` of citekit 0.2."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from pathlib import Path

from attrs import evolve

from citekit.compat.models import ResourceMap, map_of
from citekit.container import bootstrap
from citekit.settings import Settings, settings_from


class MapperProvider(ABC):
    """The base class of custom mappers. Subclasses implement `generate_map`.

    To use a mapper from the command line, run `citekit ingest --mapper FILE.py`.
    """

    @abstractmethod
    async def generate_map(self, resource_path: str, resource_type: str, resource_id: str | None = None) -> ResourceMap:
        """Return the map of the file at `resource_path`, whose type, such as "video", is `resource_type`."""


class GeminiMapper(MapperProvider):
    """A mapper that uses Gemini.

    `api_key` defaults to the environment variable GEMINI_API_KEY, and `model` to the configured or else the default
    model.
    """

    def __init__(self, api_key: str | None = None, model: str | None = None, max_retries: int = 3) -> None:
        self._key, self._model, self._retries = api_key or os.environ.get("GEMINI_API_KEY"), model, max_retries

    def settings(self, home: Path) -> Settings:
        """Return the settings for the folder `home` that select this mapper, its key, and its model."""
        return evolve(gemini_settings(home, self._key, self._model, self._retries), mapper="gemini")

    async def generate_map(self, resource_path: str, resource_type: str, resource_id: str | None = None) -> ResourceMap:
        """Return the map of the file at `resource_path` without storing it.

        `resource_type` is ignored. If `resource_id` is None, the file name without its suffix is used. Raise the errors
        of `Sources.identify` and `Mapper.map`.
        """
        del resource_type  # detected from the file
        app, path = bootstrap(self.settings(Path.cwd())), Path(resource_path)
        source = app.sources.identify(path)
        return map_of(await asyncio.to_thread(app.mapper.map, source, resource_id or path.stem))


def gemini_settings(home: Path, key: str | None, model: str | None, retries: int) -> Settings:
    """Return the settings for the folder `home`, changed to use Gemini with the API key `key`, or the local mapper
    without a key.

    `model` replaces the configured model, and `retries` is the number of retries.
    """
    chosen = settings_from(os.environ, home)
    mapper = "gemini" if key else "local"
    return evolve(chosen, mapper=mapper, gemini_key=key, model=model or chosen.model, retries=retries)
