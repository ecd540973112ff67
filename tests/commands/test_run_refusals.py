"""What is refused before anything starts, in one line each, and what a ledger without evidence says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_studies import Bench, write

from tui_bench.study.digest import manifest


@pytest.fixture
def small(bench: Bench) -> Bench:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    return bench


@pytest.mark.parametrize("limit", ["0", "-5", "nan", "inf", "120s"])
def test_b51_senseless_time_limits_name_the_allowed_range(small: Bench, limit: str) -> None:
    small.environments({"name": "a", "timeout_s": limit}, {"name": "b"})
    small.save()
    ran = small.run("--headless")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "envs.tsv:2" in ran.err and limit in ran.err and " to " in ran.err
    assert not ran.ledger.exists()


def test_a_mistyped_key_is_named_with_the_nearest_known_one(small: Bench) -> None:
    small.save(verify_replay=1)
    ran = small.run("--headless")
    assert ran.code == 2
    assert "bench.yaml:" in ran.err and "verify_replay" in ran.err and "verify_replays" in ran.err


def test_all_problems_are_listed_at_once(small: Bench) -> None:
    small.save(attemps=1, gate={"flip_rate": 10}, jobs=0)
    ran = small.run("--headless")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 3


@pytest.mark.parametrize("words", [["--env", "remote-fre"], ["--task", "nothing*"], ["--agent", "fixr"]])
def test_unknown_names_list_the_known_ones(small: Bench, words: list[str]) -> None:
    small.save()
    ran = small.run("--headless", *words)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert any(name in ran.err for name in ("a, b", "one", "fixer"))


def test_an_unknown_option_names_the_nearest_one(small: Bench) -> None:
    small.save()
    ran = small.run("--job", "2")
    assert ran.code == 2 and "--jobs" in ran.err and len(ran.err.splitlines()) == 1


FORBIDDEN = ("/", "~", "HOME", "PARENT", "STUDY", "TASKS", "LEDGER", "FOREIGN", "LINK", "/proc", "/tmp")


@pytest.mark.parametrize("place", FORBIDDEN)
def test_d10_a_workspace_that_must_not_be_used_is_refused(small: Bench, tmp_path: Path, place: str) -> None:
    home = Path(small.variables["HOME"])
    write(home / "precious.txt", "mine\n")
    foreign = tmp_path / "foreign"
    write(foreign / "kept.txt", "kept\n")
    (tmp_path / "link").symlink_to(home)
    places = {
        "HOME": home, "PARENT": home.parent, "STUDY": small.folder, "TASKS": small.folder / "tasks" / "in",
        "LEDGER": tmp_path, "FOREIGN": foreign, "LINK": tmp_path / "link",
    }  # fmt: skip
    small.environments({"name": "a", "workspace": str(places.get(place, place))}, {"name": "b"})
    small.save()
    before = [manifest(folder).digest() for folder in (home, foreign, small.folder)]
    ran = small.run("--headless")
    assert ran.code == 2, ran.err
    assert len(ran.err.splitlines()) == 1
    assert [manifest(folder).digest() for folder in (home, foreign, small.folder)] == before


def test_a_control_that_nothing_enforces_is_refused(small: Bench) -> None:
    write(small.folder / "controls.yaml", "network: denied\n")
    small.save(controls="controls.yaml")
    ran = small.run("--headless")
    assert ran.code == 2
    assert "network" in ran.err and "local" in ran.err and "sandbox" in ran.err
    assert not ran.ledger.exists()


@pytest.mark.sandbox
def test_d25_a_bwrap_that_merely_runs_its_command_is_found_out(small: Bench, tmp_path: Path) -> None:
    fake = tmp_path / "bin"
    script = '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n'
    write(fake / "bwrap", script)
    (fake / "bwrap").chmod(0o755)
    small.variables["PATH"] = f"{fake}:{small.variables['PATH']}"
    small.environments({"name": "a", "kind": "sandbox"}, {"name": "b"})
    small.save()
    ran = small.run("--headless")
    assert ran.code == 2
    assert not ran.ledger.exists()
    probed = small.cli("env", "check", "sandbox")
    assert probed.code == 2 or "none" in probed.out


def test_b10_no_engine_is_said_once_and_voids_only_its_own_attempts(small: Bench) -> None:
    small.environments({"name": "here"}, {"name": "box", "kind": "container", "image": "debian:12"})
    small.save(attempts=2)
    ran = small.run("--headless")
    assert {(row["env"], row["void"]) for row in ran.attempts} == {("here", None), ("box", "env_unavailable")}
    assert ran.err.count("is unavailable") == 1
    assert ran.code == 3
    assert "GATE OPEN" not in ran.out and "GATE SHUT" not in ran.out


def test_no_environment_at_all_is_refused(small: Bench) -> None:
    small.environments({"name": "box", "kind": "container", "image": "debian:12"})
    small.save()
    ran = small.run("--headless")
    assert ran.code == 2 and not ran.ledger.exists()


def test_one_environment_has_no_pairs(small: Bench) -> None:
    small.environments({"name": "only"})
    small.save()
    ran = small.run("--headless")
    assert ran.code == 3
    assert "NO EVIDENCE" in ran.out


def test_flips_of_an_unknown_environment_list_the_known_ones(small: Bench) -> None:
    small.save()
    ran = small.run("--headless")
    asked = small.cli("flips", str(ran.ledger), "a", "remote-fre")
    assert asked.code == 2
    assert "a, b" in asked.err


def test_fail_everywhere_is_uninformative(bench: Bench) -> None:
    for number in range(3):
        bench.task(f"t{number}", verify="exit 1")
    bench.agents({"name": "idle", "kind": "nop"})
    bench.save()
    ran = bench.run("--headless")
    assert ran.code == 3
    assert "UNINFORMATIVE 0 of 3 flipped, but no task passed in either environment" in ran.out


def test_same_box_disagreement_of_a_frozen_subject_is_a_flaky_test(bench: Bench, tmp_path: Path) -> None:
    count = tmp_path / "count"
    patch = "--- /dev/null\n+++ b/fixed\n@@ -0,0 +1 @@\n+yes\n"
    bench.task(
        "flaky", reference=patch,
        verify=f"test -f fixed || exit 1; echo x >> {count}; [ $(( $(wc -l < {count}) % 2 )) = 0 ]",
    )  # fmt: skip
    bench.task("steady", reference=patch, verify="test -f fixed")
    bench.save(subject="reference", attempts=2, jobs=1)
    ran = bench.run("--headless")
    assert ran.code == 5, ran.out
    assert "FLAKY TEST" in ran.out and "flaky" in ran.out


def test_b36_what_local_cannot_deny_is_recorded_as_none(small: Bench) -> None:
    small.environments({"name": "a"})
    small.save()
    ran = small.run("--headless")
    assert ran.attempts[0]["enforced"]["net"] == "none"


@pytest.mark.sandbox
def test_b36_sandbox_denies_the_network_to_verify_and_to_the_agent(bench: Bench) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        probe = f"python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\""
        bench.environments({"name": "box", "kind": "sandbox"})
        bench.task("t", verify=f"[ -e done ] || exit 1; ! {probe}")
        bench.agents({"name": "caller", "network": "denied", "command": f"{probe} && touch reached; touch done"})
        bench.save()
        ran = bench.run("--headless")
    row = ran.attempts[0]
    assert row["passed"] is True
    assert row["enforced"]["net"] != "none"
    assert b"reached" not in ran.log(row, "patch")


def test_b52_undeclared_differences_are_named(bench: Bench) -> None:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.environments({"name": "a", "env.TZ": "UTC0"}, {"name": "b", "env.TZ": "XXX-5", "timeout_s": "30"})
    bench.save(dimension="timezone")
    ran = bench.run("--headless")
    assert "CONFOUNDED" in ran.out and "timeout_s" in ran.out
    before = ran.err.index("a and b differ in 1 facts beyond timezone: setting.timeout_s")
    assert before < ran.err.index("[1/2]")


@pytest.mark.parametrize("how", ["editable", "wheel-like copy"])
def test_b55_the_harness_digest_covers_every_file_and_an_edit_changes_it(
    bench: Bench, tmp_path: Path, how: str
) -> None:
    import shutil

    import tui_bench

    package = Path(tui_bench.__file__).parent
    copies = tmp_path / "site"
    shutil.copytree(package, copies / "tui_bench", ignore=shutil.ignore_patterns("__pycache__"))
    bench.variables["PYTHONPATH"] = "" if how == "editable" else str(copies)
    first = bench.cli("info", "--json", check=[0]).out
    bench.variables["PYTHONPATH"] = str(copies)
    same = bench.cli("info", "--json", check=[0]).out
    digest = first.split('"harness sha256": "')[1][:64]
    assert digest in same
    with (copies / "tui_bench" / "analysis" / "verdicts.py").open("a") as source:
        source.write("# edited\n")
    assert digest not in bench.cli("info", "--json", check=[0]).out


def test_b53_task_ids_with_slash_blank_and_colon_stay_as_they_are(bench: Bench) -> None:
    for name in ("org/repo-12", "fix the parser", "a:b"):
        bench.task(name, verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.environments({"name": "here"})
    bench.save()
    ran = bench.run("--headless")
    assert {row["task"] for row in ran.attempts} == {"org/repo-12", "fix the parser", "a:b"}
    assert len({row["files"]["verify_log"]["path"] for row in ran.attempts}) == 3
    assert os.sep not in next(iter((ran.ledger.with_suffix("") / "attempts").iterdir())).name
