"""Adapters of the object store: a folder, and the services for objects that obstore speaks to."""
