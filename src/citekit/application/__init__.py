"""The verbs of CiteKit: one use case a file, a callable whose fields are ports."""
