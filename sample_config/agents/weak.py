"""A scripted agent: a program with a few search-and-replace rules, not a model.

It reads the prompt (PROMPT_FILE) to say what it was asked, and goes through every source file below the current
folder line by line. It knows nothing of the tasks. Some of its rules go only half of the way. What it looked at and
changed is printed.
"""

import os
import re
import sys
from pathlib import Path

SKIPPED = {".git", "tests"}


def round_up(line):
    """counts a started page as a page"""
    return re.sub(r"(\w+) // (\w+) \+ 1$", r"(\1 + \2 - 1) // \2", line)


def status_of_errors(line):
    """answers 404 where there is nothing"""
    return re.sub(r'\(200, (?=\{"error": "(?:no such|unknown))', "(404, ", line)


def fresh_default(line):
    """makes a new list or dictionary for each call"""
    match = re.match(r"( *)def \w+\(.*=(?:\[\]|\{\}).*\):$", line)
    if not match:
        return line
    for name, empty in re.findall(r"(\w+)=(\[\]|\{\})", line):
        line = line.replace(f"{name}={empty}", f"{name}=None")
        line += f"\n{match[1]}    {name} = {empty} if {name} is None else {name}"
    return line


def any_case(line):
    """compares without regard to case"""
    return line.replace(".lower()", ".casefold()")


def half_up(line):
    """rounds half up"""
    return re.sub(r"\.quantize\((\w+)\)", r'.quantize(\1, "ROUND_HALF_UP")', line)


def natural_key(line):
    """forbids two rows with one email, login or number"""
    return re.sub(r"CREATE INDEX (.* \((?:email|login|isbn)\))", r"CREATE UNIQUE INDEX \1", line)


def loop_over_names(line):
    """loops over file names without `ls`"""
    return re.sub(
        r"( *)for (\w+) in \$\(ls (\$\w+)(\S*)(?: 2>/dev/null)?\); do$",
        r'\1for \2 in "\3"\4; do\n\1    [ -e "$\2" ] || continue',
        line,
    )


def quotes(line):
    """puts paths in quotes"""
    return line if '"' in line else re.sub(r"(?<= )(\$\w+(?:/[$\w.]+)*)", r'"\1"', line)


def first_status(line):
    """stops when the first command of a pipe fails"""
    match = re.match(r"( *)([^#|]+) \| ([^|].*) > (\S+)$", line)
    if not match:
        return line
    indent, first, rest, out = match.groups()
    part = f"{out}.part"
    return (
        f"{indent}{first} > {part} || {{ rm -f {part}; exit 1; }}\n"
        f"{indent}cat {part} | {rest} > {out}\n{indent}rm -f {part}"
    )


RULES = {
    ".py": (round_up, status_of_errors, fresh_default, any_case, half_up),
    ".sql": (natural_key,),
    ".sh": (loop_over_names, first_status),
}


def repaired(text, suffix):
    """The text after all rules, and the docstrings of those that changed it."""
    rules, reasons = list(RULES[suffix]), set()
    if "$(ls " in text:
        rules.append(quotes)
    lines = []
    for line in text.split("\n"):
        for rule in rules:
            new = rule(line)
            if new != line:
                reasons.add(rule.__doc__)
                line = new
        lines.append(line)
    return "\n".join(lines), sorted(reasons)


def main():
    prompt_file = os.environ.get("PROMPT_FILE")
    if not prompt_file:
        sys.exit("weak.py: PROMPT_FILE is not set")
    with open(prompt_file, encoding="utf-8") as prompt:
        print("scripted agent weak, a program with a few rules, was asked:", prompt.readline().strip("# \n"))
    for path in sorted(Path().rglob("*")):
        if SKIPPED & set(path.parts) or path.suffix not in RULES or not path.is_file():
            continue
        before = path.read_text(encoding="utf-8")
        after, reasons = repaired(before, path.suffix)
        print("looked at", path)
        for reason in reasons:
            print("  changed:", reason)
        if after != before:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
