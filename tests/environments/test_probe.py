"""D25: bubblewrap missing, failing in each known way, and one that only pretends."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from conftest_environments import BWRAP

from tui_bench.environments.environment import open_environment
from tui_bench.environments.sandbox_cures import CURES, cure
from tui_bench.errors import ControlRefused, EnvironmentUnavailable
from tui_bench.study.model import Environment

BOX = Environment(name="box", kind="sandbox")
MESSAGES = {
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
    "namespaces.": "kernel.unprivileged_userns_clone=1",
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)": (
        "user.max_user_namespaces"
    ),
    "bwrap: setting up uid map: Permission denied": "AppArmor",
    "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted": "AppArmor",
    "bwrap: Unknown option --disable-userns": "0.8 or later",
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted": "/proc",
    "bwrap: something nobody has seen before": "kind local",
}


def fake(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    """A program called bwrap, first on PATH."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


async def test_d25_without_bwrap_it_says_so_and_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentUnavailable) as caught:
        await open_environment(BOX).prepare()
    assert "'box'" in str(caught.value) and "bwrap is not on PATH" in str(caught.value)
    assert "install bubblewrap" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("message", MESSAGES)
async def test_d25_a_bwrap_that_fails_is_quoted_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    fake(tmp_path, monkeypatch, f'echo "{message}" >&2; exit 1')
    environment = open_environment(BOX)
    with pytest.raises(EnvironmentUnavailable) as caught:
        await environment.prepare()
    assert message in str(caught.value)
    assert MESSAGES[message] in str(caught.value)
    assert set(environment.capabilities.values()) == {"none"}


@pytest.mark.parametrize("text", ["exit 0", "kill -9 $$", "sleep 60"])
async def test_d25_a_bwrap_that_does_something_else_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    fake(tmp_path, monkeypatch, text)
    monkeypatch.setattr("tui_bench.environments.probe.PROBE_S", 0.3)
    with pytest.raises(EnvironmentUnavailable, match="does not start"):
        await open_environment(BOX).prepare()


async def test_d25_a_bwrap_that_merely_runs_its_command_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    fake(tmp_path, monkeypatch, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    environment = open_environment(BOX)
    with pytest.raises(ControlRefused) as caught:
        await environment.prepare()
    assert "without isolating it" in str(caught.value)
    assert "host files are reachable, the host's network is, host processes are" in str(caught.value)
    assert set(environment.capabilities.values()) == {"none"}
    assert list(own_cache.rglob("sandbox-*.json")) == [], "only a good answer is kept"


@pytest.mark.sandbox
@pytest.mark.parametrize(("dropped", "lacking"), [("--unshare-all", "network"), ("--share-net", "network")])
async def test_d25_a_real_sandbox_with_one_hole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dropped: str, lacking: str
) -> None:
    fake(tmp_path, monkeypatch, f'if [ "$1" = --unshare-all ]; then shift; set -- --unshare-all --share-net "$@"; fi\n'
         f'exec {BWRAP} "$@"')  # fmt: skip
    with pytest.raises(ControlRefused) as caught:
        await open_environment(BOX).prepare()
    assert f"the host's {lacking}" in str(caught.value)
    assert "host files" not in str(caught.value)


@pytest.mark.sandbox
async def test_the_probe_runs_once_per_host_and_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    calls = tmp_path / "calls"
    program = fake(tmp_path, monkeypatch, f'echo "$*" | grep -c "read_only = bool" >> {calls}; exec {BWRAP} "$@"')

    async def probes() -> int:
        calls.unlink(missing_ok=True)
        environment = open_environment(BOX)
        await environment.prepare()
        assert environment.capabilities["net"] == "netns"
        return calls.read_text().split().count("1")

    assert await probes() == 1
    assert await probes() == 0
    os.utime(program, (1, 1))
    assert await probes() == 1, "another program"
    for answer in own_cache.rglob("sandbox-*.json"):
        answer.write_text("{broken")
    assert await probes() == 1, "an answer that cannot be read is asked again"
    assert all(
        json.loads(answer.read_text())["net"]
        for answer in own_cache.rglob("sandbox-*.json")
        if len(answer.read_text()) > 9
    )


@pytest.mark.sandbox
async def test_a_prepared_sandbox_leaves_nothing_behind(own_cache: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    await open_environment(Environment(name="box", kind="sandbox", workspace=place)).prepare()
    assert list(place.iterdir()) == []
    assert [path.name for path in (own_cache / "tui_bench").iterdir() if not path.name.startswith("sandbox-")] == []


@pytest.mark.parametrize("kind", ["container", "ssh", "exec"])
async def test_b10_kinds_that_are_not_built_in_are_unavailable(kind: str) -> None:
    environment = open_environment(Environment(name="far", kind=kind))  # type: ignore[arg-type]
    with pytest.raises(EnvironmentUnavailable, match=f"'far': kind '{kind}' is not built into this version"):
        await environment.prepare()


def test_every_known_message_has_a_cure_of_its_own() -> None:
    for part, advice in CURES:
        assert cure(f"bwrap: {part} and so on") == advice


def test_environments_can_be_prepared_side_by_side() -> None:
    async def both() -> list[str]:
        environments = [open_environment(Environment(name=name)) for name in ("a", "b")]
        await asyncio.gather(*(environment.prepare() for environment in environments))
        return [environment.env_sha for environment in environments]

    first, second = asyncio.run(both())
    assert first == second != ""
