"""The child's first lines (``boot.py FOLDER REQUEST_FD RESPONSE_FD NUMBER``): make our core importable, then serve.

The core lies in ``FOLDER``. The package is found by a finder of its own, so that a copy of it elsewhere is never
taken for the one that lies beside the core.
"""

import sys

if __name__ == "__main__":
    core, *numbers = sys.argv[1:]
    del sys.argv[1:]
    sys.path.insert(0, core)
    import msgspec

    from harness.subjects.child.serve.loop import serve
    from harness.subjects.packaged.package import PackageAdapter

    requests, responses, first = map(int, numbers)
    serve(PackageAdapter, requests, responses, first, msgspec.json.decode)  # type: ignore[arg-type]
