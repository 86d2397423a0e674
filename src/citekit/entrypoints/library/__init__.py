"""Creates the results of the library tools as plain data."""
