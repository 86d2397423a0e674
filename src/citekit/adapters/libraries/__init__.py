"""Adapters for third-party libraries."""
