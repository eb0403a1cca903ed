"""HTTP for every resource: reading requests, building responses, middleware."""
