"""``/v1/players/{ref}``: a player of an application, across its games."""
