"""The operating system: files, locks, processes, permissions, and retries."""
