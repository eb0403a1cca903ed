"""``/mcp``: the calls that play, as tools of the Model Context Protocol, for assistants."""
