"""What becomes of an attempt: pass, fail or void, as rows of real runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from small_studies import Bench, Ran, write

LOOP = "while :; do date >> alive.txt; sleep 0.1; done"


def by_task(ran: Ran) -> dict[str, dict[str, Any]]:
    return {row["task"]: row for row in ran.attempts}


@pytest.fixture
def one_box(bench: Bench) -> Bench:
    bench.environments({"name": "here", "timeout_s": "20"})
    return bench


def test_b01_what_a_capped_agent_started_is_dead_before_verify(one_box: Bench) -> None:
    one_box.task("loops", verify="[ -e alive?txt ] && ! pgrep -f 'alive[.]txt'")
    command = f"sh -c '{LOOP}' & setsid sh -c '{LOOP}' & wait"
    leaves = f"setsid sh -c 'trap \"\" TERM; {LOOP}' & while [ ! -e alive.txt ]; do :; done"
    one_box.agents(
        {"name": "capped", "command": command, "timeout_s": 1},
        {"name": "leaves", "command": leaves},
    )
    one_box.save(jobs=1)
    began = time.monotonic()
    ran = one_box.run("--headless")
    rows = {row["agent"]: row for row in ran.attempts}
    assert rows["capped"]["capped"] is True
    assert rows["leaves"]["resources"]["left_over_processes"] >= 1
    assert time.monotonic() - began < 20
    for row in rows.values():
        assert row["passed"] is True, "pgrep found a loop of the agent while verify ran"


def test_b03_a_question_gets_end_of_file(one_box: Bench) -> None:
    one_box.task("asks", verify="read -p 'Continue? ' x && [ \"$x\" = y ]")
    one_box.agents({"name": "asking", "command": "read answer; echo \"got:$answer:$?\""})
    one_box.save()
    row = one_box.run("--headless").attempts[0]
    assert row["passed"] is False
    assert row["phases_ms"]["verify"] < 5000


def test_b04_b05_long_lines_and_bytes_that_are_no_text(one_box: Bench) -> None:
    one_box.task("long", verify="python3 -c \"print('x'*70000)\"; exit 1")
    one_box.task("bytes", verify="printf 'caf\\351 \\377\\n'; exit 1")
    noise = "python3 -c \"print('y'*200000)\"; printf '\\211PNG\\r\\n'; touch \"$(printf 'n\\377')\""
    one_box.agents({"name": "noisy", "command": noise})
    one_box.save()
    ran = one_box.run("--headless")
    rows = by_task(ran)
    assert [rows[name]["passed"] for name in ("long", "bytes")] == [False, False]
    assert ran.log(rows["long"], "verify_log").count(b"x") == 70_000
    assert ran.log(rows["long"], "agent_log").count(b"y") == 200_000
    assert "caf\ufffd \ufffd" in rows["bytes"]["verify_stdout_tail"]
    assert ran.log(rows["bytes"], "verify_log") == b"caf\xe9 \xff\n"
    assert rows["bytes"]["patch_sha256"] not in (None, "empty")


def test_b06_endless_output_is_bounded_and_keeps_its_end(one_box: Bench) -> None:
    one_box.task("floods", verify="yes | head -c 300000000; echo LAST; exit 1", verify_timeout=20)
    one_box.agents({"name": "yes", "command": "yes", "timeout_s": 1})
    one_box.save()
    ran = one_box.run("--headless")
    row = ran.attempts[0]
    assert row["passed"] is False
    log = ran.log(row, "verify_log")
    assert len(log) < 12_000_000
    assert log.endswith(b"LAST\n")
    assert row["files"]["verify_log"]["cut"] is True
    assert b"left out" in log
    assert row["capped"] is True and row["files"]["agent_log"]["cut"] is True


def test_b09_a_kill_that_nobody_can_explain_is_void(one_box: Bench) -> None:
    one_box.task("killed", verify="[ -e fixed ] || exit 1; kill -9 $$")
    one_box.agents({"name": "fixer", "command": "touch fixed"})
    one_box.save()
    row = one_box.run("--headless").attempts[0]
    assert (row["passed"], row["void"], row["signal"]) == (None, "killed_unknown", 9)


def test_b09_our_own_memory_limit_is_named(one_box: Bench) -> None:
    one_box.task("greedy", verify="[ -e fixed ] || exit 1; python3 -c 'bytearray(3 << 30)'")
    one_box.agents({"name": "fixer", "command": "touch fixed"})
    one_box.environments({"name": "here", "memory_mb": "256"})
    one_box.save()
    row = one_box.run("--headless").attempts[0]
    assert (row["passed"], row["fail_reason"]) == (False, "memory_limit")


@pytest.mark.parametrize("command", [["no-such-cli"], ["./not-executable"], "no-such-cli --now"])
def test_b11_an_agent_that_cannot_start_is_void_before_verify(one_box: Bench, command: object) -> None:
    one_box.task("any", verify="exit 1")
    write(one_box.folder / "not-executable", "echo hello\n")
    one_box.agents({"name": "ghost", "command": command})
    one_box.save()
    row = one_box.run("--headless").attempts[0]
    assert (row["void"], row["verify_runs"]) == ("agent_not_started", [])


def test_b11_an_agent_that_is_not_logged_in_is_scored_and_stops_the_run(one_box: Bench) -> None:
    for number in range(6):
        one_box.task(f"t{number}", verify="exit 1")
    one_box.agents({"name": "locked", "command": "echo 'error: not authenticated' >&2; exit 1"})
    one_box.save(jobs=1)
    ran = one_box.run("--headless")
    scored = [row for row in ran.attempts if row["void"] is None]
    assert [(row["passed"], row["agent_exit"], row["patch_sha256"]) for row in scored] == [(False, 1, "empty")] * 3
    assert "AGENT NOT WORKING" in ran.events("stopped")[0]["reason"]
    assert ran.code != 0


def test_b12_work_done_before_the_limit_is_verified(one_box: Bench) -> None:
    one_box.task("late", verify="test -f fixed.txt")
    one_box.agents({"name": "slow", "command": "touch fixed.txt; sleep 100", "timeout_s": 1})
    one_box.save()
    row = one_box.run("--headless").attempts[0]
    assert (row["passed"], row["capped"], row["void"]) == (True, True, None)


def test_b13_a_verify_that_hangs_is_excluded_or_fails(one_box: Bench) -> None:
    one_box.task("always", verify="sleep 1000", verify_timeout=1)
    one_box.task("made_to", verify="sh tool.sh", verify_timeout=1, repo={"tool.sh": "exit 1\n"})
    one_box.agents({"name": "looper", "command": "[ ! -e tool.sh ] || echo 'sleep 1000' > tool.sh"})
    one_box.save()
    ran = one_box.run("--headless")
    screened = {row["task"]: row["outcome"] for row in ran.events("screened")}
    assert screened == {"always": "verify_timeout", "made_to": "usable"}
    rows = by_task(ran)
    assert set(rows) == {"made_to"}
    assert (rows["made_to"]["passed"], rows["made_to"]["fail_reason"]) == (False, "verify_timeout")


def test_b30_nothing_of_an_earlier_attempt_is_in_the_workspace(one_box: Bench, tmp_path: Path) -> None:
    verify = "test -f stale_ok.txt || test -d empty || test -f ignored.o"
    one_box.task("fresh", verify=verify, repo={".gitignore": "*.o\n"})
    flag = tmp_path / "flag"
    first = f"[ -e {flag} ] || {{ touch {flag} stale_ok.txt ignored.o; mkdir empty; }}"
    one_box.agents({"name": "once", "command": first})
    one_box.save(attempts=2, jobs=1)
    rows = sorted(one_box.run("--headless").attempts, key=lambda row: row["attempt"])
    assert [row["passed"] for row in rows] == [True, False]
    assert rows[1]["patch_sha256"] == "empty"


def test_b34_an_edited_test_is_void_and_an_edit_put_back_changes_nothing(one_box: Bench) -> None:
    root = one_box.folder / "tasks" / "t"
    write(root / "repo" / "run_tests.sh", "test -f fixed\n")
    write(root / "prompt.md", "make fixed\n")
    edit = "{ echo 'exit 0'; cat run_tests.sh; } > x && mv x run_tests.sh"
    one_box.agents(
        {"name": "cheat", "command": edit},
        {"name": "back", "command": f"cp -p run_tests.sh keep; {edit}; mv keep run_tests.sh"},
    )
    one_box.save()
    ran = one_box.run("--headless")
    rows = {row["agent"]: row for row in ran.attempts}
    assert (rows["cheat"]["passed"], rows["cheat"]["void"]) == (None, "forbidden_edit")
    assert "run_tests.sh" in rows["cheat"]["void_detail"]
    assert (rows["back"]["passed"], rows["back"]["void"]) == (False, None)
    assert (root / "repo" / "run_tests.sh").read_text() == "test -f fixed\n"


def test_b35_verify_leaves_the_oracle_as_it_was(one_box: Bench) -> None:
    test = "import unittest, helper\nclass T(unittest.TestCase):\n  def test(self): self.assertTrue(helper.ok())\n"
    helper = "import os\ndef ok(): return os.path.exists('fixed')\n"
    root = one_box.task(
        "py", verify='cd "$REPO_DIR" && python3 -m unittest discover -s "$ORACLE_DIR"',
        oracle={"test_it.py": test, "helper.py": helper, "sha256.txt": "0" * 64},
    )  # fmt: skip
    before = sorted(path.name for path in (root / "oracle").iterdir())
    one_box.agents({"name": "fixer", "command": "touch fixed"})
    one_box.save(attempts=2, verify_replays=2)
    ran = one_box.run("--headless")
    assert [row["passed"] for row in ran.attempts] == [True, True]
    assert [row["verify_runs"] for row in ran.attempts] == [[0, 0, 0]] * 2
    assert sorted(path.name for path in (root / "oracle").iterdir()) == before


def test_b43_unknown_tokens_stay_unknown(one_box: Bench) -> None:
    usages = {"both": (100, 10), "none": (None, None), "part": (50, None), "zero": (0, 0)}
    for name in usages:
        one_box.task(name, verify="test -f done", prompt=f"{name}\n")
    body = "import json,os;u=" + repr({key: {"tokens_in": a, "tokens_out": b} for key, (a, b) in usages.items()})
    write(
        one_box.folder / "agent.py",
        body + "\nname=open(os.environ['PROMPT_FILE']).read().strip()\nopen('done','w').close()\n"
        "open(os.environ['USAGE_FILE'],'w').write(json.dumps(u[name]))\n",
    )
    one_box.agents({"name": "wrapper", "command": ["python3", "./agent.py"]})
    one_box.save()
    rows = by_task(one_box.run("--headless"))
    assert {name: (rows[name]["tokens_in"], rows[name]["tokens_out"]) for name in usages} == usages
    assert all(row["passed"] for row in rows.values())


def test_b33_a_key_given_by_name_is_kept_nowhere_and_no_other_variable_is_given(one_box: Bench) -> None:
    key, other = "sk-very-secret-0123456789", "never-passed-9876543210"
    one_box.variables.update(THE_KEY=key, OTHER=other)
    one_box.task("leaky", verify="cat stolen.txt stolen.txt >&2; echo; env; test -f stolen.txt")
    command = "env; echo $THE_KEY > stolen.txt; printf %s $THE_KEY | base64"
    one_box.agents({"name": "thief", "command": command, "pass_env": ["THE_KEY"]})
    one_box.save()
    ran = one_box.run("--headless")
    assert ran.attempts[0]["passed"] is True
    assert "[redacted]" in ran.attempts[0]["verify_stderr_tail"]
    assert b"[redacted]" in ran.log(ran.attempts[0], "agent_log")
    kept = [path.read_bytes() for path in ran.ledger.with_suffix("").rglob("*") if path.is_file()]
    for content in [*kept, ran.ledger.read_bytes(), ran.out.encode(), ran.err.encode()]:
        assert key.encode() not in content
        assert b"c2stdmVyeS1zZWNyZXQ" not in content
        assert other.encode() not in content
