"""What an endpoint's address may be."""

from __future__ import annotations

from urllib.parse import urlsplit

from tui_bench.study.reading import show

PLACEHOLDER = "REPLACE_ME"


def url_fault(text: str) -> str | None:
    """What is wrong with a base URL, or None. A refused URL with a password is not repeated in the sentence."""
    if PLACEHOLDER in text:
        return f"still holds {PLACEHOLDER}; put the real address there"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"is not a URL ({show(str(error))}); write http://HOST:PORT or https://HOST"
    if "@" in parts.netloc:
        return "holds a user name or password; pass secrets by pass_env and write the bare address"
    if parts.scheme not in ("http", "https") or not host or any(char.isspace() for char in text):
        return f"{show(text)} is not a URL; write http://HOST:PORT or https://HOST"
    return None
