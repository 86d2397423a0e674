"""The page in the browser: shows mapped files and marks evidence in them."""
