"""``make attack``: how honest players fare while the service is under attack, and what one request can cost.

A service with default settings runs on a free port of the loopback interface, its data in a temporary folder. Honest
players play domino on it, first undisturbed, then while attackers in processes of their own send one kind of load.

    __main__    the command line and the tables
    target      the service under attack: its processes, its log, its processor time
    http        a connection that accepts every answer, and the bytes of requests
    honest      the honest players
    attackers   what an attacker process does with its requests
    attacks     the attacks: their names and requests
    bodies      large bodies, records and heads
    cost        the processor time of single requests: every route with every input that may be large
    faults      computer players and deadlines while processes and servers fail
    race        people who move at their deadline, and when the service ends their turn
    pace        whether the time of a computer player's answer tells how many moves it had
"""
