"""The index, under the name of the package that once stored it."""

from __future__ import annotations

from citekit.adapters.drivers.sqlite_index import DATABASE, Index

__all__ = ["DATABASE", "Index"]
