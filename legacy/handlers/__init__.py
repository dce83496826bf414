"""The handlers, by concern; `legacy.slots` says in which order they run."""
