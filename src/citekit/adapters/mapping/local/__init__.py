"""The local mapper: real structure from the file itself, with no model and no network. One module per format."""
