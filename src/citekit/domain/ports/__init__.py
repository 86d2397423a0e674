"""The ports: one Protocol per file. Each docstring states what an implementation must guarantee."""
