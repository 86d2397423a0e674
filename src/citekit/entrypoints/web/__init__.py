"""The viewer: shows mapped files in the browser and marks evidence in them."""
