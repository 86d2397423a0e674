"""Measurements of the library: one file per question, each runnable alone."""
