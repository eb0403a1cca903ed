"""``make faults``: what becomes of acknowledged moves while processes, servers and disks fail.

Clients play over HTTP, with people, computer players, clocks, and an application with an endpoint, and repeat every
write by its key until its outcome is known. Meanwhile one kind of fault occurs again and again. Afterwards the stored
games are compared with the answers, and with the messages that the endpoint got.

    __main__     the command line and the table
    stages       where games are played: the service, its processes, its servers
    failures     what fails, and how often
    tables       the games that clients play: who sits at them, and their clocks
    endpoint     the endpoint of an application, and which messages are missing
    run          one kind of fault, from the start to the verdict
    partition    links that are cut silently between servers and two services (``network``: how)
    simulated    histories in one process, with simulated faults and time

Depends on the histories of the tests (``tests/histories``), whose clients and checker it uses.
"""
