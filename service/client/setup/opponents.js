/** Who plays in a new game: the seats as they are sent, and which computer players are proposed. */
import { idempotencyKey } from "../shell/api.js";

/** @import { Bot, SeatChoice } from "../shell/types.js" */

/** The number of players that is proposed where the game allows it and none was chosen before. */
export const USUAL_PLAYERS = 4;

/** The level that is proposed: the one in the middle, from weak to strong. @param {Bot[]} bots */
export const usualLevel = (bots) => bots[Math.floor(bots.length / 2)]?.id ?? "";

/** What to send as `players`. @param {SeatChoice[]} seats @param {string} [seed] of deals that are to be foreseen */
export const playersOf = (seats, seed) => seats.map(({ kind, name, level }) => {
  if (kind === "open") return { open: true };
  if (kind === "bot") return { bot: level };
  // Chance that the service could not have foreseen.
  return seed ? { name } : { name, client_seed: idempotencyKey() };
});
