"""bubblewrap's own words when it cannot make a sandbox, and what helps."""

from __future__ import annotations

INSTALL = "install bubblewrap (Debian, Ubuntu, Fedora, Arch: package bubblewrap), or use kind local"
CURES = (
    (
        "No permissions to create new namespace",
        "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "nesting depth or /proc/sys/user/max_",
        "raise the limit: sysctl user.max_user_namespaces=10000 (in a container: ask for nested namespaces)",
    ),
    (
        "setting up uid map: Permission denied",
        "AppArmor forbids it: add a profile for bwrap with the rule `userns,` rather than turning the restriction off",
    ),
    (
        "loopback: Failed RTM_NEWADDR",
        "AppArmor forbids it: add a profile for bwrap with the rule `userns,` rather than turning the restriction off",
    ),
    (
        "Unknown option",
        "bubblewrap is too old for this recipe: version 0.8 or later is needed",
    ),
    (
        "Can't mount proc",
        "this container masks /proc: run it with an unmasked /proc, or use kind local",
    ),
)


def own_words(stderr: bytes) -> str | None:
    """The last line that bubblewrap wrote, None where there is none."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("bwrap:")]
    return next(iter(reversed(named or lines)), None)


def cure(words: str) -> str:
    """What helps against these words."""
    for part, advice in CURES:
        if part.lower() in words.lower():
            return advice
    return "run `bwrap --ro-bind / / true` to see whether bubblewrap works at all, or use kind local"
