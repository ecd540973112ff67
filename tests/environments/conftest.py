"""A job slot and what runs commands in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from conftest_environments import BWRAP, Bench

from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.environments.transports import Local, Sandbox


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("sandbox") is not None and BWRAP is None:
            item.add_marker(pytest.mark.skip(reason="bwrap is not on PATH: install bubblewrap"))


@pytest.fixture
async def slot() -> AsyncIterator[SupervisorSlot]:
    slot = SupervisorSlot()
    yield slot
    await slot.close()


@pytest.fixture
def local(slot: SupervisorSlot, tmp_path: Path) -> Bench:
    return Bench(tmp_path, slot, Local())


@pytest.fixture
def boxed(slot: SupervisorSlot, tmp_path: Path) -> Bench:
    return Bench(tmp_path, slot, Sandbox(BWRAP or "bwrap"))


@pytest.fixture(params=["local", pytest.param("sandbox", marks=pytest.mark.sandbox)])
def bench(request: pytest.FixtureRequest, slot: SupervisorSlot, tmp_path: Path) -> Bench:
    """The same test in both kinds."""
    return Bench(tmp_path, slot, Local() if request.param == "local" else Sandbox(BWRAP or "bwrap"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No test reads or writes the user's kept probe answers."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    yield folder
