"""Fixtures shared by all folders: a user's environment of the test's own, and an empty study in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import Bench


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def clean_variables(tmp_path: Path, shared_cache: Path) -> dict[str, str]:
    """The user's environment with a home and a cache folder of the test's own."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH")}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(shared_cache), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def bench(tmp_path: Path, clean_variables: dict[str, str]) -> Bench:
    folder = tmp_path / "study"
    folder.mkdir()
    return Bench(folder, clean_variables)




@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Runs of tests are not remembered among those of the user."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder
