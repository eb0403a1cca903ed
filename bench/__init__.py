"""What a move costs, measured beside the floor that the same stack sets: ``make bench``.

Owns nothing that the service needs: it starts the real service as a process and asks it over HTTP, or calls the
engine's public functions. Absolute figures are printed and never asserted; what counts are ratios between candidates
that take turns in short bursts, for a machine is not the same from one minute to the next.

    setups      the games that are measured, and whole matches of them played beforehand
    driver      many clients of one process over plain sockets
    floor       the same gunicorn with a bare Flask route: one read, one script, as many bytes
    peers       the floor once more, on other stacks
    stand       the one server that keeps what is measured, and the candidates as processes
    figures     medians, spreads, percentiles, and who takes turns how
    report      tables and the page RESULTS.md
    parts/      one file a part of the benchmark
"""
