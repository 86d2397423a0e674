"""The Gemini API as a model service."""
