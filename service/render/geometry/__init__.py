"""Where the tiles of a layout lie on the table: coordinates for pictures, in integers.

**Unit**: a quarter of a tile's length; a tile is 4 × 2, each half 2 × 2. x grows eastwards, y southwards; the origin is
the centre of the lead. Tiles do not overlap, keep a gap of at least one unit to all tiles but their host, and never
move: the geometry of a layout begins with the geometry of the same layout before its last tile.

Owns the places of tiles and ends. Does not depend on pictures; and no rule depends on it: the engine does not import
it. Pure, without random numbers and without floating-point arithmetic, so that every machine computes the same.

``shapes``: boxes, headings, and which cells are taken; ``costs``: the places where a tile can join an end, and which of
them is best; ``links``: a free place elsewhere where no tile fits at an end; ``growing``: a layout, tile by tile.
"""

from __future__ import annotations

from service.render.geometry.growing import Area, Geometry, GrowingGeometry, Place, PlacedEnd, PlacedTile, geometry

__all__ = ["Area", "Geometry", "GrowingGeometry", "Place", "PlacedEnd", "PlacedTile", "geometry"]
