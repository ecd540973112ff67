#!/usr/bin/env bash
# The test lies where the agent works. A task folder without oracle/ makes this file the verify script and protects it.
[ "$(python3 -B shout.py hello)" = "HELLO!" ] || exit 1
