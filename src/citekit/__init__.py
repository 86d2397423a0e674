"""CiteKit: the evidence layer for AI agents."""
