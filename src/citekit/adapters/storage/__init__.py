"""Stores for maps, evidence, outputs, the ledger, tags, uploads, and records of ingests."""
