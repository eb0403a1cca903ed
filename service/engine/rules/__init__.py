"""The named answers to the questions of ``variant.Rules``, one question per file.

An answer that only one game gives is in that game's module.
"""
