"""B36 and SAFETY's rule: enforce or refuse, before anything runs."""

from __future__ import annotations

import pytest
from conftest_environments import LINUX

from tui_bench.environments.environment import Wanted, open_environment
from tui_bench.errors import ControlRefused
from tui_bench.study.model import Environment

linux_only = pytest.mark.skipif(not LINUX, reason="limits of memory and CPUs need Linux")


async def refusal(spec: Environment, wanted: Wanted | None = None) -> str:
    with pytest.raises(ControlRefused) as caught:
        await open_environment(spec, wanted=wanted or Wanted()).prepare()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_b36_network_denied_in_local_is_refused_with_the_cure() -> None:
    text = await refusal(Environment(name="laptop"), Wanted(network_denied=True))
    assert text == "network: denied is not enforceable in environment 'laptop' (local): use kind sandbox"
    assert await refusal(Environment(name="laptop", network="denied")) == text


async def test_b36_what_nobody_asked_for_is_not_refused() -> None:
    environment = open_environment(Environment(name="laptop"))
    await environment.prepare()
    assert (environment.capabilities["net"], environment.unenforced) == ("none", ())


@pytest.mark.sandbox
async def test_b36_network_denied_in_the_sandbox_is_enforced() -> None:
    environment = open_environment(Environment(name="box", kind="sandbox"), wanted=Wanted(network_denied=True))
    await environment.prepare()
    assert environment.capabilities["net"] == "netns"


async def test_only_the_endpoint_is_refused_in_every_kind() -> None:
    assert "endpoint is not enforceable in environment 'a' (local)" in await refusal(
        Environment("a", network="endpoint")
    )
    assert "endpoint" in await refusal(Environment("a"), Wanted(network_endpoint=True))


@linux_only
@pytest.mark.parametrize(
    ("cpus", "words"), [(0.5, "whole CPUs only; use 1"), (1.5, "use 2"), (4096, "this machine has")]
)
async def test_cpus_that_affinity_cannot_keep_are_refused(cpus: float, words: str) -> None:
    assert words in await refusal(Environment("a", cpus=cpus))
    assert words in await refusal(Environment("a"), Wanted(cpus=cpus))


@linux_only
async def test_weak_means_are_named_once() -> None:
    environment = open_environment(Environment("a", memory_mb=512), wanted=Wanted(cpus=1))
    await environment.prepare()
    memory, cpus = environment.notes
    assert "'a': memory_mb is kept by rlimit+sampler" in memory and "not by a cgroup" in memory
    assert "cpus is kept by affinity" in cpus


async def test_all_refusals_come_at_once() -> None:
    text = await refusal(Environment("a", network="denied", cpus=0.5))
    assert "network: denied" in text and "cpus: 0.5" in text


async def test_the_user_may_say_that_it_shall_run_all_the_same() -> None:
    wanted = Wanted(network_denied=True, even_unenforced=True)
    environment = open_environment(Environment("a"), wanted=wanted)
    await environment.prepare()
    assert len(environment.unenforced) == 1 and "network: denied" in environment.unenforced[0]
    assert environment.capabilities["net"] == "none"
