"""Asks the real services, where a key is set: make live. Says before each what it is about to cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from attrs import frozen

from citekit.adapters.mappers.llm.gemini import service as gemini
from citekit.adapters.mappers.llm.openai import service as openai

HERE = Path(__file__).parent


@frozen(kw_only=True)
class Smoke:
    """A smoke test of a service: its key's variable, the model it asks, and about how many tokens that takes. Of `file`, only tests
    with `test` in their name are run.

    Prices are in US dollars for a million tokens of the model `priced`, as listed when this was written; the service's own page
    counts. The prices of other models are not known.
    """

    service: str
    variable: str
    model: str
    file: str
    tokens_in: int
    tokens_out: int
    price_in: float
    price_out: float
    prices: str
    priced: str
    test: str = ""

    @property
    def dollars(self) -> float:
        """The estimate."""
        return (self.tokens_in * self.price_in + self.tokens_out * self.price_out) / 1_000_000

    def announcement(self) -> str:
        """What is about to be asked, and what it costs."""
        tokens = (
            f"{self.service} ({self.model}): one request with about {self.tokens_in:,} tokens in and "
            f"{self.tokens_out:,} out, thinking included; "
        )
        if self.model != self.priced:
            return f"{tokens}the price of this model is not known here: {self.prices}"
        return (
            f"{tokens}at {self.price_in:g} and {self.price_out:g} dollars per million tokens about {self.dollars:.3f} "
            f"dollars. Prices change: {self.prices}"
        )


GEMINI_SPEECH = Smoke(
    service="Gemini, with 5 s of speech", variable="GEMINI_API_KEY",
    model=os.environ.get("CITEKIT_MODEL") or gemini.MODEL, file="test_speech_live.py", test="gemini", tokens_in=400,
    tokens_out=1_000, price_in=1.0, price_out=3.0, prices="https://ai.google.dev/gemini-api/docs/pricing",
    priced=gemini.MODEL,
)  # fmt: skip
OPENAI_SPEECH = Smoke(
    service="OpenAI, with 5 s of speech", variable="OPENAI_API_KEY", model="whisper-1", file="test_speech_live.py",
    test="openai", tokens_in=400, tokens_out=100, price_in=1.0, price_out=1.0,
    prices="https://openai.com/api/pricing", priced="whisper-1",
)  # fmt: skip
SMOKES = (
    Smoke(
        service="Gemini", variable="GEMINI_API_KEY", model=os.environ.get("CITEKIT_MODEL") or gemini.MODEL,
        file="test_gemini_live.py", tokens_in=2_000, tokens_out=2_000, price_in=0.5, price_out=3.0,
        prices="https://ai.google.dev/gemini-api/docs/pricing", priced=gemini.MODEL,
    ),
    Smoke(
        service="OpenAI", variable="OPENAI_API_KEY", model=os.environ.get("OPENAI_MODEL") or openai.DEFAULT_MODEL,
        file="test_openai_live.py", tokens_in=3_000, tokens_out=2_000, price_in=2.0, price_out=12.0,
        prices="https://openai.com/api/pricing", priced=openai.DEFAULT_MODEL,
    ),
    GEMINI_SPEECH,
    OPENAI_SPEECH,
)  # fmt: skip


def main() -> int:
    """Run the smoke test of every service whose key is set. Returns 0 if none failed."""
    ready = [smoke for smoke in SMOKES if os.environ.get(smoke.variable)]
    if not ready:
        names = " nor ".join(dict.fromkeys(smoke.variable for smoke in SMOKES))
        print(f"Neither {names} is set, so no service was asked and nothing was spent.")
        return 0
    failed = 0
    for smoke in ready:
        print(smoke.announcement(), flush=True)
        failed += subprocess.call(
            [sys.executable, "-m", "pytest", "-q", "-rs", "-k", smoke.test, str(HERE / smoke.file)]
        )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
