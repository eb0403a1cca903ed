"""``/v1/variants``: the available variants."""
