"""What every command stands on: the app, the options, how a result is shown."""
