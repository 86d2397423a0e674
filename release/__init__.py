"""Builds what a release consists of. Not part of the distribution."""
