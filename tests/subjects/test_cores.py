"""Which core a job keeps to, and that what it runs joins it once it is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from harness.subjects.cores import one_each

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no say in which cores a process uses"
)


@needs_affinity
def test_as_many_jobs_as_cores_keep_to_one_each() -> None:
    cores = sorted(os.sched_getaffinity(0))
    assert one_each(len(cores)) == cores
    assert one_each(len(cores) + 1) == [None] * (len(cores) + 1)
    assert one_each(1) == (cores if len(cores) == 1 else [None])


@needs_affinity
def test_what_a_job_runs_may_use_all_cores_until_it_joins_it() -> None:
    script = """
    import os, subprocess, sys
    from harness.subjects.cores import join, keep_to, release
    before = os.sched_getaffinity(0)
    free = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    for let in (release, join):
        let(free.pid)
        assert os.sched_getaffinity(free.pid) == before
    core = max(before)
    keep_to(core)
    assert os.sched_getaffinity(0) == {core}
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert os.sched_getaffinity(child.pid) == {core}
    release(child.pid)
    assert os.sched_getaffinity(child.pid) == before
    join(child.pid)
    assert os.sched_getaffinity(child.pid) == {core}
    for one in (free, child):
        one.kill()
        one.wait()
    for let in (release, join):
        let(child.pid)
    keep_to(4096)
    assert os.sched_getaffinity(0) == {core}
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
