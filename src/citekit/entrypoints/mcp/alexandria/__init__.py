"""The library's tools: search, ingest and remove books, and the guardians as prompts."""
