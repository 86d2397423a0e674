"""Everything outside the core, by family. `container` alone chooses among the adapters."""
