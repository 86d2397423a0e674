"""The core types of CiteKit: frozen values and pure functions. It imports only the standard library and attrs."""
