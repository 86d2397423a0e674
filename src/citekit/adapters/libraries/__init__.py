"""Adapters for third-party libraries. Each library is imported on first use, and its exceptions are translated."""
