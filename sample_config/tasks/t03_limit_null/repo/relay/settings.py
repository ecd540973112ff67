"""Defaults, and a site's own values laid over them."""

import json
from pathlib import Path

DEFAULTS = Path(__file__).with_name("defaults.json")


class SettingsError(ValueError):
    """The site file names something that does not exist."""


def load(path=None):
    """Settings in force, as sections of plain values."""
    defaults = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    site = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    refuse_unknown(defaults, site)
    return {name: merge(section, site.get(name, {})) for name, section in defaults.items()}


def merge(defaults, site):
    """One section with the site's values laid over the defaults."""
    merged = {}
    for key in defaults:
        value = site.get(key)
        if value is None:
            value = defaults[key]
        merged[key] = value
    return merged


def refuse_unknown(defaults, site):
    """Raises SettingsError for a section or key that the defaults do not have."""
    for name, section in site.items():
        if name not in defaults:
            raise SettingsError(f"unknown section: {name}")
        for key in section:
            if key not in defaults[name]:
                raise SettingsError(f"unknown key: {name}.{key}")
