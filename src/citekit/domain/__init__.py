"""Defines the core types of CiteKit: immutable values and pure functions. They import only the standard library and
attrs.
"""
