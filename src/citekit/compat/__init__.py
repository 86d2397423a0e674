"""Programs written for citekit 0.2 run on this.

The classes are those of citekit 0.2 in name, constructor and behaviour (mutable, absent fields are None, `model_dump`),
and stand before the same use cases as everything else. What differs is listed in `docs/how-to/migrate-from-0.2.md`.
"""
