"""The adapter for the Gemini API, through the `google-genai` SDK."""
