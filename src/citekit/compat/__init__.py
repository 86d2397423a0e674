"""Provides the API of citekit 0.2, for existing programs.

The classes have the names, constructors, and behavior of citekit 0.2; `docs/how-to/migrate-from-0.2.md` lists the
differences.
"""
