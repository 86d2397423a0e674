"""Third-party libraries: imported on first use, configured once, their exceptions translated."""
