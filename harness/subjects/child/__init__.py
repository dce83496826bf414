"""What runs inside the child process of a real source tree.

It needs only the standard library, so that any interpreter given by ``--python`` can run it. A tree cannot import it
by accident: ``boot.py`` makes it importable only under the private name ``_stackproof``, and leaves no folder of ours
on the module path.
"""
