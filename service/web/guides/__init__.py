"""The guides of the documentation, and what assistants and search engines ask for, as files to serve.

``tools.openapi`` writes them from ``docs`` and from the document.
"""
