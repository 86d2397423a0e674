"""The texts of a file in which quotes are looked for, and their cache."""
