"""The fields of schemas: strict ones for requests, and those that several resources share."""
