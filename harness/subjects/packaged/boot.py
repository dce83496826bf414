"""The child's first lines (``boot.py FOLDER REQUEST_FD RESPONSE_FD NUMBER``): make our core importable, then serve.

The core is in ``FOLDER``. `finding.PackageFinder` finds the package, so that the one beside the core is never
imported instead of a copy elsewhere.
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
