"""Handles PDF documents."""
