"""The sandbox: a pool of child processes that parse untrusted files, each with a budget."""
