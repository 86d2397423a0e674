"""Excel workbooks (XLSX)."""
