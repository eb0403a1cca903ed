/**
 * The types of the picture of the table; the browser never loads this file.
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Area in board units
 * @typedef {{x: number, y: number}} Point
 *
 * What is to be seen.
 * @typedef {object} Subject
 * @property {Area} table the planned table
 * @property {Area} bounds around all there is
 *
 * @typedef {{x: number, y: number, rotation: number}} Spot
 *
 * Where in the window a tile comes from: its middle, its length in CSS pixels, and its rotation.
 * @typedef {Spot & {length: number}} Source
 *
 * Where a tile lies that was laid: its element, its rotation, its length in CSS pixels, and how it looks.
 * @typedef {{element: Element, rotation: number, length: number, look: Look}} Target
 *
 * A place as it is drawn: where the tile would lie, the numbers of all that are there, and whether it stands for them.
 * @typedef {{place: Place, spot: Spot, numbers: string, isFirst: boolean}} Ghost
 *
 * @typedef {object} Look
 * @property {boolean} colours of the numbers
 * @property {number} digits the first number that is a digit
 * @property {number} badges how many times larger than on a large picture
 *
 * @typedef {object} TileOptions
 * @property {boolean} [faceDown]
 * @property {boolean} [colours] whether each number has a colour of its own
 * @property {boolean | number} [digits] instead of pips: all numbers, or those from this one on
 * @property {number} [rotation] by which the tile is turned, in degrees; digits stay upright
 *
 * Where the chosen tile may be laid.
 * @typedef {object} Place
 * @property {string} tile
 * @property {string} [end] the id of an end; none on an empty table
 * @property {boolean} [faceDown]
 * @property {number} [outer] the half that stays outside
 * @property {number} [points] the points of the move
 * @property {number} [sum] the sum of the ends after the move
 * @property {string} [label] the place in words
 *
 * @typedef {object} PictureOptions
 * @property {Board} [board] none until it has arrived
 * @property {Place[]} [places]
 * @property {typeof import("./ghosts.js")} [marks] how places are drawn, where there may be any
 * @property {number} [chosen] the index of a place
 * @property {(place: Place, index: number) => void} [onPlace] called when a place is clicked
 * @property {string} label of the picture
 * @property {string} [description] the whole table in words
 * @property {string} [lastTile] the tile that was laid last
 * @property {number} [highest] number of the set
 */

/** @import { Board } from "../shell/types.js" */

export {};
