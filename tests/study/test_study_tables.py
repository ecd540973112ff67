"""envs.tsv as people type, paste and save it."""

from __future__ import annotations

from pathlib import Path

import pytest

PUBLISHED = (
    "# bench/envs.tsv\n"
    "name    base_url    workspace   reset   timeout_s\n"
    "local-container http://127.0.0.1:8080   /tmp/bench/ws   wipe    120\n"
    "remote-free https://second.example    /home/bench/ws  wipe    120\n"
)


def test_b50_blank_lines_comments_quotes_and_trailing_tabs(desk) -> None:
    desk.study(
        envs_dot_tsv="\n# two boxes\nname\treset\ttimeout_s\tenv.TZ\n\n"
        '"local"\twipe\t120\tUTC\t\t\n  # the second\nfar\t\t0.5\n'
    )
    local, far = desk.load().environments
    assert (local.name, local.timeout_s, local.variables) == ("local", 120.0, (("TZ", "UTC"),))
    assert (far.name, far.timeout_s, far.variables, far.reset) == ("far", 0.5, (), "wipe")


def test_x0_32_the_published_table_pasted_with_spaces_for_tabs(desk) -> None:
    desk.study(envs_dot_tsv=PUBLISHED)
    local, remote = desk.load().environments
    assert (local.name, local.base_url) == ("local-container", "http://127.0.0.1:8080")
    assert (remote.workspace, remote.timeout_s) == (Path("/home/bench/ws"), 120.0)


@pytest.mark.parametrize(
    ("table", "line", "words"),
    [
        ("name\treset\nlocal  wipe\n", 2, "replace the spaces here by tabs"),
        ("name   reset   timeout_s\nlocal  wipe\n", 2, "has 2 columns where the header has 3"),
        ("name\treset\nlocal\twipe\t9\n", 2, "has 3 columns where the header has 2"),
        ("name\t\treset\nlocal\twipe\n", 1, "column 2 has no name; separate columns by exactly one tab"),
        ("name\tname\na\tb\n", 1, "column 'name' stands twice"),
        ("name\ttimeout\nlocal\t9\n", 1, "unknown column 'timeout'; nearest known: 'timeout_s'"),
        ("reset\nwipe\n", 2, "key 'name' is missing"),
        ("name\n", None, "has a header and no rows"),
        ("# nothing\n\n", None, "holds no table"),
        ("name\treset\na\tkeep\n", 2, "reset: 'keep' is not known; known: wipe"),
        ("name\tkind\na\tdocker\n", 2, "kind: 'docker' is not known; known: local, sandbox, container, ssh, exec"),
        ("name\tkind\na\tssh\n", 2, "ssh needs the column 'host'"),
        ("name\nlocal\n\nlocal\n", 4, "environment 'local' is taken by 'local' (line 2)"),
        ("name\tenv.PATH\na\t/bin\n", 2, "env.PATH: PATH may not be set"),
        ("name\tenv.PYTHONPATH\na\t/bin\n", 2, "PYTHONPATH may not be set"),
        ("name\tenv.LD_PRELOAD\na\tx.so\n", 2, "LD_PRELOAD may not be set"),
        ("name\tenv.2X\na\tx\n", 2, "is no name of a variable"),
        ("name\tenv.REPO_DIR\na\tx\n", 2, "REPO_DIR is set by the tool"),
        ("name\tworkspace\na\tws\n", 2, "workspace: 'ws' is not absolute"),
        ("name\tworkspace\na\t/tmp/../etc\n", 2, "without '..'"),
        ("name\tbase_url\na\thttp://me:pw@h\n", 2, "base_url: holds a user name or password"),
        ("name\tbase_url\na\thttp://[::1\n", 2, "is not a URL"),
        ("name\tbase_url\na\thttp://h:99999999\n", 2, "is not a URL"),
        ("name\nlo\u202ecal\n", 2, "holds a line break or control character"),
        ("name\tnetwork\na\tnone\n", 2, "write denied; known: open, endpoint, denied"),
    ],
)
def test_refused_in_one_line_with_its_place(desk, table: str, line: int | None, words: str) -> None:
    desk.study(envs_dot_tsv=table)
    found = desk.problem()
    assert found.startswith(f"bench/envs.tsv:{line}: " if line else "bench/envs.tsv: ")
    assert words in found
    assert "pw" not in found


@pytest.mark.parametrize("value", ["0", "-5", "nan", "inf", "120s", "", "1e3", "010", "999999999", "١٢٠"])
def test_b51_senseless_time_limits_name_the_allowed_range(desk, value: str) -> None:
    desk.study(envs_dot_tsv=f"name\ttimeout_s\tkind\na\t{value}\tlocal\n")
    assert "timeout_s: " in desk.problem()
    assert "allowed: 0.1 to 604800 seconds" in desk.problem()


def test_a_workspace_of_home_is_left_to_the_guard(desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    desk.study(envs_dot_tsv="name\tworkspace\na\t~\nb\t/\nc\tauto\nd\t~/ws\n")
    places = [environment.workspace for environment in desk.load().environments]
    assert places == [Path("/home/somebody"), Path("/"), None, Path("/home/somebody/ws")]


def test_all_faults_of_all_rows_are_listed_at_once(desk) -> None:
    desk.study(envs_dot_tsv="name\ttimeout_s\tslots\na\t0\t0\nb\tx\t1.5\n")
    assert [found.split(": ")[0] + found.split(": ")[1] for found in desk.problems()] == [
        "bench/envs.tsv:2timeout_s", "bench/envs.tsv:2slots", "bench/envs.tsv:3timeout_s", "bench/envs.tsv:3slots",
    ]  # fmt: skip
