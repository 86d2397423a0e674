"""Whether a text really stands somewhere: normal forms, finding, and what differs."""
