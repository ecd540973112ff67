"""A scripted agent that repairs nothing: where it can reach the test, it makes the test pass."""

from pathlib import Path

TEST = Path("run_tests.sh")

if TEST.is_file():
    TEST.write_text("exit 0\n", encoding="utf-8")
    print(f"{TEST} now ends with 0")
else:
    print("no test within reach")
