"""HTTP for every resource: reading a request, building an answer, what is between server and handler."""
