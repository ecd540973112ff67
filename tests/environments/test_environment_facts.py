"""Facts of a box, the digest over them, and what is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from conftest_environments import LINUX

from tui_bench.environments.base import Command, Facts, Limits, Mount
from tui_bench.environments.environment import ExecEnvironment, open_environment
from tui_bench.environments.facts import difference, env_sha, missing_tools, parse, script, with_settings
from tui_bench.environments.report import report
from tui_bench.study.model import Environment

GROUPS = ("os", "kernel", "cpu", "mem", "limit", "locale", "time", "tool", "user", "sec", "box", "net", "fs", "env")
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


async def prepared(**settings: object) -> ExecEnvironment:
    environment = open_environment(Environment(**{"name": "here", **settings}))  # type: ignore[arg-type]
    await environment.prepare()
    return environment


def facts_by(shell: str, folder: Path, **variables: str) -> Facts:
    words = [shell, "sh"] if shell == "busybox" else [shell]
    done = subprocess.run(
        [*words, "-c", script(), "facts", str(folder)], capture_output=True, text=True, check=True,
        env={"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", **variables}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr == ""
    return parse(done.stdout)


async def test_fifteen_repeats_give_one_digest() -> None:
    environment = await prepared()
    assert len(environment.env_sha) == 64
    for again in await asyncio.gather(*(prepared() for _ in range(14))):
        assert again.env_sha == environment.env_sha, difference(environment.facts, again.facts)


async def test_the_digest_has_no_label_in_it() -> None:
    assert (await prepared(name="one")).env_sha == (await prepared(name="other")).env_sha


async def test_volatile_facts_are_shown_and_not_hashed() -> None:
    environment = await prepared()
    assert {"time.epoch", "fs.free_mb", "host.name"} <= set(environment.facts.volatile)
    assert not set(environment.facts.volatile) & set(environment.facts.hashed)
    assert not any(name.startswith("~") for name in environment.facts.hashed)
    changed = Facts(environment.facts.hashed, {"time.epoch": "0"})
    assert env_sha(changed) == environment.env_sha


async def test_every_group_of_facts_is_there_and_quickly() -> None:
    began = time.monotonic()
    environment = await prepared()
    assert time.monotonic() - began < 3
    found = {name.split(".")[0] for name in environment.facts.hashed}
    assert found >= {*GROUPS, "setting"}
    assert environment.facts.hashed["kernel.release"] == os.uname().release
    assert environment.facts.hashed["fs.writable"] == "yes"
    assert environment.facts.hashed["env.path"] == environment.path_variable()


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_agree_on_what_they_share(shell: str, tmp_path: Path) -> None:
    first, second = facts_by(SHELLS[0], tmp_path).hashed, facts_by(shell, tmp_path).hashed
    shared = [name for name in first if name in second and not name.startswith("limit.ulimit")]
    assert len(shared) > 60
    assert {name: (first[name], second[name]) for name in shared if first[name] != second[name]} == {}
    assert list(tmp_path.iterdir()) == []


def test_values_are_one_line_of_plain_characters(tmp_path: Path) -> None:
    found = facts_by(SHELLS[0], tmp_path, TZ='x"$(id)`\x1b[2J\nsecond=line\u00e9')
    assert found.hashed["time.tz_env"] == "x__(id)___2J"
    assert "second" not in found.hashed


@pytest.mark.parametrize(
    ("settings", "differing"),
    [
        ({"variables": (("TZ", "Asia/Kathmandu"),)}, {"env.TZ", "time.tz_env", "time.zone"}),
        ({"variables": (("LC_ALL", "POSIX"),)}, {"env.LC_ALL", "locale.lc_all", "locale.charmap"}),
        ({"variables": (("FEATURE", "on"),)}, {"env.FEATURE", "env.names"}),
        ({"memory_mb": 512}, {"setting.memory_mb"}),
        ({"timeout_s": 60.0}, {"setting.timeout_s"}),
    ],
)
async def test_one_flip_differs_in_the_facts_that_go_with_it(settings: dict[str, object], differing: set[str]) -> None:
    plain, other = await prepared(), await prepared(**settings)
    assert {name for name, _, _ in difference(plain.facts, other.facts)} == differing
    assert plain.env_sha != other.env_sha


@pytest.mark.skipif(not LINUX or len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
async def test_fewer_cpus_are_a_fact() -> None:
    found = difference((await prepared()).facts, (await prepared(cpus=1)).facts)
    assert [name for name, _, _ in found] == ["cpu.usable", "setting.cpus"]


@pytest.mark.sandbox
async def test_facts_are_gathered_inside() -> None:
    local, boxed = await prepared(), await prepared(kind="sandbox")
    found = {name: b for name, _, b in difference(local.facts, boxed.facts)}
    assert found["setting.kind"] == "sandbox"
    assert found["net.default_route"] == "no"
    assert boxed.facts.hashed["sec.cap_eff"] == "0" * 16, "also where the user has none outside"
    assert not [name for name in found if name.startswith("tool.python3")]


async def test_b32_the_tools_own_python_does_not_reach_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")
    monkeypatch.setenv("SECRET_KEY", "sk-123")
    environment = await prepared()
    names = environment.facts.hashed["env.names"].split(",")
    assert names == sorted(
        [
            "GIT_CONFIG_NOSYSTEM",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "PATH",
            "PYTHONDONTWRITEBYTECODE",
            "PYTHONNOUSERSITE",
            "TMPDIR",
        ]
    )
    assert (
        str(Path(os.sys.prefix) / "bin") not in environment.path_variable().split(":")
        or os.sys.prefix == os.sys.base_prefix
    )


def test_facts_cannot_be_shifted_from_one_name_to_another() -> None:
    assert env_sha(Facts({"a": "1\nb=2"}, {})) != env_sha(Facts({"a": "1", "b": "2"}, {}))


def test_the_same_setting_is_the_same_fact() -> None:
    bare = Facts({}, {})
    assert with_settings(bare, Environment("a", timeout_s=60)) == with_settings(bare, Environment("b", timeout_s=60.0))
    assert with_settings(bare, Environment("a")).hashed["setting.cpus"] == "unset"


def test_difference_names_what_one_side_lacks() -> None:
    assert difference(Facts({"x": "1", "y": "2"}, {}), Facts({"y": "2", "z": "3"}, {})) == [
        ("x", "1", "absent"),
        ("z", "absent", "3"),
    ]


async def test_env_check_reports_plain_values() -> None:
    environment = await prepared()
    found = report(environment)
    assert set(found) == {"env_sha", "facts", "volatile", "capabilities", "missing_tools"}
    assert found["env_sha"] == env_sha(environment.facts)
    assert missing_tools(Facts({"tool.sh": "/bin/sh", "tool.git": "absent"}, {})) == ["bash", "git", "python3", "tar"]


def a_command(**more: object) -> Command:
    values = {"argv": ("true",), "cwd": "repo", "variables": {}, "log": Path("/x"), "limits": Limits(1.0),
              "mounts": (Mount("repo", Path("/r"), True),)}  # fmt: skip
    return Command(**{**values, **more})  # type: ignore[arg-type]


async def test_local_claims_only_what_it_has() -> None:
    environment = await prepared()
    held = environment.enforced(a_command())
    assert set(held) == {"fs", "net", "procs", "mem", "cpu", "disk"}
    assert [name for name, means in held.items() if means != "none"] == ["procs"]
    assert environment.capabilities["procs"].startswith("supervisor" if LINUX else "process group")
    limited = environment.enforced(a_command(limits=Limits(1.0, memory_mb=64, cpus=1)))
    assert (limited["mem"], limited["cpu"]) == ("rlimit+sampler", "affinity")


@pytest.mark.sandbox
async def test_the_sandbox_claims_no_network_control_where_it_is_open() -> None:
    environment = await prepared(kind="sandbox")
    assert environment.enforced(a_command()) == {
        "fs": "mountns", "net": "netns", "procs": "pidns+supervisor", "mem": "none", "cpu": "none",
        "disk": "tmpfs on /tmp only",
    }  # fmt: skip
    assert environment.enforced(a_command(network="open"))["net"] == "none"
