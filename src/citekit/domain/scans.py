"""Says what a user can do about a PDF without text, which may be a scan."""

from __future__ import annotations

from citekit.domain.distribution import install_command


def scan_advice(ocr_version: str, *, is_off: bool) -> str:
    """Return a sentence about OCR, with a space before it.

    `ocr_version` is the version of OCR, or "" if it is off or not installed. `is_off` is whether the user has switched
    it off.
    """
    if ocr_version:
        return " If it is a scan, OCR recognized no text in it."
    if is_off:
        return " If it is a scan, set CITEKIT_OCR to on, so that OCR reads it, and try again."
    return f" If it is a scan, install the extra 'ocr' ({install_command('ocr')}), which reads it, and try again."
