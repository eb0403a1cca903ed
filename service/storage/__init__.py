"""Where games are kept: the adapters behind the port ``service.games.ports.Store``.

Must not know: HTTP, or any rule of a game; what it keeps is opaque to it.
"""
