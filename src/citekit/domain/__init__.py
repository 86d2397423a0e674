"""Defines the core types of CiteKit: immutable values and pure functions. Imports only the standard library and attrs."""
