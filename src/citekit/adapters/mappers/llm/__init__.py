"""The mapper that asks a language model: prompts, answers, and their validation against the file."""
