"""Rewrites programs so that their grammars can parse them. All remaining text stays on its line."""
