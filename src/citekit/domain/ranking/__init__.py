"""Ranks the pages of documents by how likely they answer a question."""
