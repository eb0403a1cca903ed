"""Puts the service together: the only place that names concrete adapters."""
