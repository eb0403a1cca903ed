"""The rules of domino: pure functions over frozen values, with no clock, network, disk or environment.

Read it from the inside out: ``tiles`` and ``layout`` are the things on the table, ``events`` and
``moves`` what happens and what is asked, ``state`` a match between two moves, ``variant`` the form of
a recipe, ``rules`` the named answers that recipes are made of, ``variants`` the recipes, and ``play``
the referee.
"""
