"""Source code: the outline of a program from its syntax tree."""
