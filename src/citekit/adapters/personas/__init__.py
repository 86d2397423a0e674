"""Guardians and patterns, and the files that define them.

A guardian is a persona with a voice for answers. A pattern is an instruction for a kind of answer.
"""
