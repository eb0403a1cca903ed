"""The work of the floor on other stacks, for orientation: the same paths, the same scripts, as many bytes."""
