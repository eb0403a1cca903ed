/** The games to choose from, from what is easy to begin with to what is not. Knows no game: how hard it is, is in the list. */

/** @import { VariantSummary } from "../shell/types.js" */

/** The levels of difficulty, as the service numbers them. */
export const LEVELS = /** @type {const} */ ([1, 2, 3]);

/** The easiest games first; of equally easy ones the shortest. @param {VariantSummary[]} variants */
export const inOrder = (variants) =>
  [...variants].sort((one, other) => one.difficulty - other.difficulty || one.minutes - other.minutes);

/** The game that is proposed to whoever has chosen none. @param {VariantSummary[]} variants */
export const easiest = (variants) => inOrder(variants)[0];
