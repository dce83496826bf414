"""What runs inside the child process of a real source tree.

Standard library only, so that any interpreter given by ``--python`` can run it, and never importable by the
tree: ``boot.py`` loads this package under the private name ``_stackproof_child`` without putting any folder of
ours on the module path.
"""
