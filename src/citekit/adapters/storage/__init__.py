"""Stores for maps, evidence, outputs, and the ledger."""
