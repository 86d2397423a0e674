"""The sandbox: a pool of child processes (workers) that parse untrusted files, with limits on time and memory."""
