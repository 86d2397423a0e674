"""Converts between objects and plain data.

Objects are written in one strict form, and are read leniently. Errors are reported as `path: reason` lines.
"""
