"""The use cases of CiteKit: classes, most of them callable, that use ports."""
