"""Files for browsers, served as they are. Own no rules and know nothing of this package."""
