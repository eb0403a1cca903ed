"""What gunicorn loads: its settings, the worker, and the application."""
