"""The parts that all commands share: the app, the options, the display of a result."""
