"""Defines the cost of using a model service."""

from __future__ import annotations

from attrs import frozen


@frozen
class Usage:
    """The number of requests that reached the service and of tokens as the service counts them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return the sum of both usages."""
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )
