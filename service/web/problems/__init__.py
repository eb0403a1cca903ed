"""Refusals: what every error is over HTTP, and ``/problems``, where they are explained."""
