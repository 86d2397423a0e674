"""What the inside asks of the outside: one Protocol a file, each method with its promise."""
