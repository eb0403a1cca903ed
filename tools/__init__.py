"""Programs for those who develop the service; nothing in the wheel imports them."""
