"""Creates the reranker that the settings choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.domain.errors import RequestRefused
from citekit.settings import Settings, expanded

if TYPE_CHECKING:
    from citekit.container.mappers import Mappers
    from citekit.domain.ports.reranker import Reranker

RERANKERS = ("features", "onnx:FOLDER", "server:MODEL", "model")
"""The forms of a value of `CITEKIT_RERANKER`, with the variable parts in capital letters."""

TIMEOUT = 60.0
"""The default timeout in seconds for a request to a rerank server."""


def reranker_called(settings: Settings, mappers: Mappers) -> Reranker:
    """Return the configured reranker.

    Raise `RequestRefused` if there is none with the configured name, or if a setting that it needs is missing.
    """
    name = settings.library.reranker
    kind, _, what = name.partition(":")
    match kind:
        case "features" if not what:
            from citekit.adapters.search.rerankers.features import FeatureReranker

            return FeatureReranker()
        case "onnx" if what:
            from citekit.adapters.search.rerankers.cross_encoder import CrossEncoder

            return CrossEncoder(expanded(what))
        case "server" if what:
            return _on_server(settings, what)
        case "model" if not what:
            return mappers.model_reranker()
    raise RequestRefused(
        f"There is no reranker named '{name}'. Set CITEKIT_RERANKER to one of: {', '.join(RERANKERS)}."
    )


def _on_server(settings: Settings, model: str) -> Reranker:
    from citekit.adapters.search.rerankers.server import ServerReranker
    from citekit.adapters.system.retry import Retries

    chosen = settings.library
    if chosen.reranker_url is None:
        raise RequestRefused(
            "The reranker 'server' needs the URL of the server. Set CITEKIT_RERANKER_URL, for example to "
            "http://localhost:8000/v1."
        )
    return ServerReranker(
        chosen.reranker_url,
        model,
        chosen.reranker_key,
        timeout=settings.timeout or TIMEOUT,
        retries=Retries(count=settings.retries),
    )
