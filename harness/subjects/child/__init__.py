"""What runs inside the child process of a real source tree.

It uses the standard library alone, so that any interpreter given by ``--python`` can run it. A tree can never import
it by accident: ``boot.py`` makes it importable under the private name ``_stackproof`` only, without a folder of ours
on the module path.
"""
