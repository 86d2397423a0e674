"""Defines the core types, functions, and ports of CiteKit. This package imports only the standard library and attrs."""
