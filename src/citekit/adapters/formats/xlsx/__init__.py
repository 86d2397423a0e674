"""The adapter for Excel workbooks (XLSX files)."""
