"""What the troubles of an embedding request to Gemini mean to whoever asked.

The driver's table says which exceptions there are, whether asking again may help, and how long to wait; its sentences are
about maps, those here about embeddings.
"""

from __future__ import annotations

from collections.abc import Callable

from citekit.adapters.drivers import google_genai_errors
from citekit.adapters.drivers.asking_again import Verdict
from citekit.adapters.drivers.google_genai_scene import KEYS_PAGE, LIMITS_PAGE, MESSAGE_LIMIT, Scene
from citekit.adapters.drivers.secrets import conceal
from citekit.domain.errors import EmbedderUnavailable

STATUSES = {
    400: "did not accept the request: check that '{model}' embeds texts, the dimensions, and the key",
    401: "refused the API key: check {variables}, or make a new key at {keys}",
    403: "does not permit this to the API key: check {variables} and its project ({keys})",
    404: "has no model '{model}' for embeddings: choose another",
    429: "has no quota left: wait, or raise the quota ({limits})",
}
"""For other statuses: `_OTHER`."""

_OTHER = {3: "answered with a redirect: check the address {base_url}", 5: "failed: try again later"}
_SHORT = "did not accept the request: check the model '{model}'"


def explainer(scene: Scene) -> Callable[[Exception], Verdict | None]:
    """Tells of an exception what it means, as `asked` wants it; None for one that is none of the SDK's."""

    def explain(error: Exception) -> Verdict | None:
        trouble = google_genai_errors.explain(error, scene)
        if trouble is None:
            return None
        conceal(error, scene.key)
        return Verdict(EmbedderUnavailable(_text(error, scene)), trouble.transient, trouble.retry_after)

    return explain


def _text(error: Exception, scene: Scene) -> str:
    code = getattr(error, "code", None)
    words = " ".join(str(getattr(error, "message", None) or error).split())[:MESSAGE_LIMIT].rstrip(".")
    said = f"({words})" if words and not words.startswith("<") else f"({type(error).__name__})"
    text = f"Gemini {_happened(code, said) if isinstance(code, int) else _lost(error, said)}."
    return _filled(text, scene)


def _happened(code: int, said: str) -> str:
    sentence = STATUSES.get(code) or _OTHER.get(code // 100, _SHORT)
    happened, _, remedy = sentence.partition(": ")
    return f"{happened} (HTTP {code}) {_escaped(said)}: {remedy}"


def _lost(error: Exception, said: str) -> str:
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names:
        return "did not answer within {timeout:g} s: try again later, or allow more time"
    if "TransportError" in names:
        return f"is not reachable at {{base_url}} {_escaped(said)}: check the network, the proxy and the address"
    return f"gave an answer from {{base_url}} that cannot be read {_escaped(said)}: check the address"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _filled(text: str, scene: Scene) -> str:
    filled = text.format(
        model=scene.model,
        base_url=scene.base_url,
        timeout=scene.timeout,
        variables=scene.variables,
        keys=KEYS_PAGE,
        limits=LIMITS_PAGE,
    )
    return filled.replace(scene.key, "(the key)") if scene.key else filled
