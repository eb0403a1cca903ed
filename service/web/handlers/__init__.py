"""One module a resource: what each operation of the HTTP interface does, and how it is described."""
