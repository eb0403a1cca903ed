"""In place of a name server: a folder for ``PYTHONPATH``, from which Python loads ``sitecustomize`` at its start."""
