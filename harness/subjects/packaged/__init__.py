"""What runs inside the child process of one of our own packages (``legacy``, say, here or in a copy elsewhere).

It speaks the same frames as the child of a source tree. The package runs on `harness.world`, so this child has our
core on its path; of the folder that holds the package it imports the package and nothing else.
"""
