"""The mapper that asks a language model: prompts, answers, and the validation of answers against the file."""
