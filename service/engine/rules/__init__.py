"""The named answers to the questions of ``variant.Rules``.

An answer that only one game gives is in that game's module.
"""
