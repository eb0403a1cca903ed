"""Learning from the strongest computer player: hints for a turn, and reviews of finished matches.

Owns what a move is worth (``analysis``), what each decision of a match gave away and what was luck (``review``), how
both are kept beside their game (``store``), and who may ask for them (``queries``). Does not depend on HTTP, or on the
process that computes them (``service.workers.learning``).
"""
