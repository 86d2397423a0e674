"""The mapper that asks a language model and validates its answers against the file."""
