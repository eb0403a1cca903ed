"""Answers to the questions of ``variant.Rules`` that several games share.

An answer of a single game is in the module of that game.
"""
