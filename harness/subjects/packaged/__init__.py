"""What runs inside the child process of one of our own packages, such as ``legacy`` or a copy of it elsewhere.

The child answers the same requests as that of a source tree. The package runs on `harness.world`, so this child has
our core on its path; from the folder that holds the package it imports the package and nothing else.
"""
