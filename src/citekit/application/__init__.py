"""The use cases of CiteKit: one per module, each a callable class whose fields are ports."""
