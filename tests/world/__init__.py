"""Tests of harness.world, module for module."""
