"""The ports that parse files of strangers, each answered by a child process that may die alone."""
