"""The Gemini API through the `google-genai` SDK."""
