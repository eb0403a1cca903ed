"""The load run: whole matches over HTTP on several processes and a Redis Cluster, more and more of them.

Owns the load, and the check that nothing is lost or doubled; ``bench.parts.load`` runs it and shows the figures. All
players, their streams and the endpoint of the webhooks are greenlets of one process, so that one clock measures.

    stage        the processes: a Cluster of three primaries, three services, the background processes
    connections  requests and streams from greenlets
    kinds        what is played, and by whom
    tables       people who play matches, one after the other, driven by what their streams bring
    endpoint     the endpoint of the applications: which messages came, and when
    accounts     what was acknowledged of a game, compared with the events of the game
    measures     what is measured in a step of the load
"""
