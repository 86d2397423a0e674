"""The structure of source code."""

from citekit.adapters.mapping.local.code.outliner import CodeOutliner

__all__ = ["CodeOutliner"]
