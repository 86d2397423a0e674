"""The outline of a video or a recording: chapters, topics, scenes, or speech."""
