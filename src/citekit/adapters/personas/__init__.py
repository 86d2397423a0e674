"""Guardians (personas with a voice for answers) and patterns (instructions for kinds of answers), and their files."""
