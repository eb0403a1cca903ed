/** The games to choose from, from what is easy to begin with to what is not. Knows no game: how hard it is, is in the list. */

/** @import { App, Bot, VariantSummary } from "../shell/types.js" */

/** The levels of difficulty, as the service numbers them. */
export const LEVELS = /** @type {const} */ ([1, 2, 3]);

/** The easiest games first; of equally easy ones the shortest. @param {VariantSummary[]} variants */
export const inOrder = (variants) =>
  [...variants].sort((one, other) => one.difficulty - other.difficulty || one.minutes - other.minutes);

/** What the service offers: games, the easiest first, and levels of computer players. @param {App} app @param {AbortSignal} signal @returns {Promise<{variants: VariantSummary[], bots: Bot[]}>} */
export async function offered({ api }, signal) {
  const { body } = await api.get("v1/variants", { signal });
  return { variants: inOrder(body.variants), bots: body.bots };
}

/** The game that is proposed to whoever has chosen none. @param {VariantSummary[]} variants */
export const easiest = (variants) => inOrder(variants)[0];
