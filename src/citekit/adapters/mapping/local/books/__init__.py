"""Books: what their contents, their markup and their pictures tell of their structure."""
