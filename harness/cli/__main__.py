"""Runs the command line as ``python -m harness.cli``."""

from harness.cli import main

main()
