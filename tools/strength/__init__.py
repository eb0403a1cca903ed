"""How strong the levels of the computer players are, measured in deals that every level plays from every seat."""
