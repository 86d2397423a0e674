"""What a library of books, and the search in it, is made of: values and pure functions."""
