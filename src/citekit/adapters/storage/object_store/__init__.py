"""Adapters of the object store: a folder, and the object storage services that obstore supports."""
