"""Learning from the strongest computer player: hints for a turn, and reviews of finished matches.

Owns the values of moves (``analysis``), the points that each decision of a match gave away and the luck in its results
(``review``), their storage beside their game (``store``), and who may request them (``queries``). Does not depend on
HTTP, or on the process that computes them (``service.workers.learning``).
"""
