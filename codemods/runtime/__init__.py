"""The module that codemods place in a target tree, and its names.

It uses the standard library only, and can be imported here so that it can be tested.
"""
