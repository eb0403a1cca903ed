"""Problems: the HTTP response to every error, and ``/problems``, which explains them."""
