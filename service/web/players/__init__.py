"""``/v1/players/{ref}``: a person whom an application knows."""
