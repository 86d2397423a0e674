"""Rules for outlining each programming language. Each module covers languages with similar syntax."""
