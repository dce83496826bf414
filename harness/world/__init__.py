"""The simulated world: hardware, model, environment, profiles, the case and the outcome."""
