"""Measurements: one file per question, each runnable alone."""
