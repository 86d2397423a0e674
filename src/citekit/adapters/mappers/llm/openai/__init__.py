"""The OpenAI API, and servers compatible with it, as a model service."""
