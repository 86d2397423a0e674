"""Defines the cost of using a model service."""

from __future__ import annotations

from attrs import field, frozen

MOST_TOKENS = 10**12
"""The highest number of tokens that is counted. A higher number is an error of the service."""


def _plausible(tokens: int) -> int:
    return max(0, min(tokens, MOST_TOKENS))


@frozen
class Usage:
    """The number of requests that reached the service, and the numbers of tokens that it counted."""

    requests: int = 0
    input_tokens: int = field(default=0, converter=_plausible)
    output_tokens: int = field(default=0, converter=_plausible)

    def __add__(self, other: Usage) -> Usage:
        """Return the sum of both usages."""
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )
