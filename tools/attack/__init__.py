"""``make attack``: how honest players fare while the service is under attack, and what one request can cost.

A service with default settings runs on a free port of the loopback interface, its data in a temporary folder. Honest
players play domino on it, first undisturbed, then while attackers in processes of their own send one kind of load.
Others attack what one may hold: the store, computer players, look-ups, the lobby.

    __main__    the command line and the tables
    tables      the tables: their heads, their rows, what they mean
    measure     how the honest fare in calm and under an attack, and what it costs the service
    target      the service under attack: its processes, its log, its processor time
    http        a connection that accepts every answer, and the bytes of requests
    client      an honest client, which asks until it is answered
    honest      the honest players
    bot_tables  honest people who play a computer player each
    attackers   what an attacker process does with its requests
    takers      attackers who take what stays taken
    attacks     the attacks: their names and requests
    shares      the attacks on what one may hold, and what others get beside them
    hosts       hosts of endpoints
    names       in place of a name server
    bodies      large bodies, records and heads
    cost        the processor time of single requests: every route with every input that may be large
    faults      computer players and deadlines while processes and servers fail
    race        people who move at their deadline, and when the service ends their turn
    pace        whether the time of a computer player's answer tells how many moves it had
"""
