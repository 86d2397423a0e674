"""The viewer, a page in the browser: shows mapped files and marks evidence in them."""
