"""The parts that commands share: the app, the options, and the display of a result."""
