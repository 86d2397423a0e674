"""Converts between objects and plain data, which is written in one strict form and read leniently."""
