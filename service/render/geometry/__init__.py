"""The coordinates of the tiles of a layout, for pictures.

**Unit**: a quarter of a tile's length; a tile is 4 × 2, each half 2 × 2. x grows eastwards, y southwards; the origin is
the centre of the lead. Tiles do not overlap, and have a gap of at least one unit to all tiles but their host. A tile
never moves: adding a tile to a layout does not change the coordinates of the others.

Owns the coordinates of tiles and ends. Does not depend on pictures, and the engine does not depend on it. All functions
are pure, without random numbers and floating-point arithmetic, so every machine computes the same coordinates.
"""

from __future__ import annotations

from service.render.geometry.growing import Area, Geometry, GrowingGeometry, Place, PlacedEnd, PlacedTile, geometry

__all__ = ["Area", "Geometry", "GrowingGeometry", "Place", "PlacedEnd", "PlacedTile", "geometry"]
