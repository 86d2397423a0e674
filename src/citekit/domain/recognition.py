"""Says what a user can do about files without text: PDFs, which may be scans, and recordings."""

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


def speech_advice(*, is_off: bool, is_installed: bool) -> str:
    """Return a sentence, with a space before it, about speech recognition that is not available.

    `is_off` is whether the user has switched it off, and `is_installed` is whether only a model is missing.
    """
    if is_off:
        return " To recognize what is said, set CITEKIT_SPEECH to on, and try again."
    if is_installed:
        return " To recognize what is said, download a multilingual model (citekit models get base), and try again."
    return (
        f" To recognize what is said, install the extra 'speech' ({install_command('speech')}) and a model (citekit models "
        "get base), and try again."
    )
