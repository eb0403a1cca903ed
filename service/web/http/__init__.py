"""What every resource needs of HTTP: reading a request, building an answer, what is between server and handler."""
