"""A match without a server: deal, list, play, score, replay. ``python examples/one_match.py [GAME]``."""

import sys

from service.library import GAMES, Match, read_record, tell, verify

game = sys.argv[1] if len(sys.argv) > 1 else "domino"
seats = GAMES[game].players[0]  # the fewest
match = Match(game, ["Ada", "Bo", "Cy", "Di", "Eve"][:seats], bots={seats - 1: "greedy"})
while not match.is_over:
    seat = match.to_act[0]  # between two rounds anybody may deal
    moves = match.legal_moves(seat)
    match.play(seat, match.choose(seat) if seat in match.bots else moves[0])
print("points:", match.totals, "winners:", [match.players[seat] for seat in match.winners])

text = match.record()  # who played what, every deal with its proof, every move, every count
report = verify(read_record(text))
print(f"verified: {report.verified}, {report.moves} moves, {report.proven} deals proven")
print(*list(tell(read_record(text)))[-4:], sep="\n")
