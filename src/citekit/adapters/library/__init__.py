"""Libraries of books, one module for each way in which they are kept."""
