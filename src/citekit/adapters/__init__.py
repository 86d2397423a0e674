"""What the outside is reached through: one folder per port, `bootstrap` alone chooses among them."""
