"""The page, and its files below ``/client/``."""
