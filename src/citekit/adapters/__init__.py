"""Adapters that connect the core to files, databases, libraries, and services.

Only `container` chooses which adapters are used.
"""
