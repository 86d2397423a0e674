"""Adapters that connect the core to files, databases, libraries, and services.

They are grouped into packages by purpose. Only `container` chooses which adapters are used.
"""
