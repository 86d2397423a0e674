"""The API of citekit 0.2, for existing programs.

The classes have the names, constructors, and behavior of citekit 0.2 (mutable, absent fields are None, `model_dump`)
and call the current use cases. `docs/how-to/migrate-from-0.2.md` lists the differences.
"""
