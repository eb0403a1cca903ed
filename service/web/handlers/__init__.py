"""The handlers of the operations, one module per resource."""
