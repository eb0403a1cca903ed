"""Applications: the backends that own games, the index and the feed of their games, and the messages to them.

Built on ``service.games``, on the ports of this package (``ports``, also in ``index`` and ``webhooks``) and on nothing
else: neither HTTP nor Redis.
"""
