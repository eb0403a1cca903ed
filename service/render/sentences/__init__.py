"""Sentences about events, states and the table, in every language of ``service.texts``.

The input is always a view, so no sentence can reveal a hidden fact.
"""
