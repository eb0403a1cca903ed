"""Benchmarks of the service against a minimal application on the same stack, the floor: ``make bench``.

The service does not depend on it: it starts the real service as a process and sends HTTP requests, or calls public
functions of the engine. Absolute figures are printed and never asserted; the results are ratios between candidates
that alternate in short bursts, as the speed of a machine changes from minute to minute.

    setups      the measured games, and whole matches of them, played in advance
    additions   games with a clock, a bot or an owner, beside the same without
    driver      many clients in one process over plain sockets
    costs       the processor time of all processes that answer a request
    floor       gunicorn with a minimal Flask route: one read, one script, bodies of the same size
    peers       the floor on other stacks
    builds      the Pythons, and the compiled build of the service
    candidates  how each candidate is started
    stand       the Redis server of the measurements, and the candidates as processes
    plays       what the engine is measured by, in processes of players
    figures     medians, spreads, percentiles, and the order of the candidates
    report      tables and the page RESULTS.md
    load/       players, webhooks and processes of the load run
    parts/      one module per part of the benchmark
"""
