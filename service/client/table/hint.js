/**
 * A hint, where all others are computer players: the move that the strongest of them would make, shown on the table, and
 * why. The service works it out from what this seat knows; where it gives none, the button goes with the first refusal.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { tileName } from "../game/names.js";
import { Problem } from "../shell/api.js";
import { whenReady } from "../shell/ready.js";
import { capitalized } from "../texts/text.js";
import { actionText } from "./input.js";
import { isOnTurn } from "./parts.js";

/** @import { Choice, Say } from "./input.js" */
/** @import { App, Game, Move } from "../shell/types.js" */

/** What the service answers: its view of the moves, the best first, and why. @typedef {{moves: {move: Move}[], text: string}} Hint */

/**
 * @param {App} app @param {import("../game/match.js").Match} match @param {Choice} choice
 * @param {{say: Say, signal: AbortSignal}} does `signal`: the table is left
 */
export function createHint(app, match, choice, { say, signal }) {
  const { t, api, device } = app;
  let isOffered = true;
  let isAsking = false;

  /** Whether one can be asked for: whoever plays with people gets none. @param {Game} game */
  const isPossible = (game) => isOffered && match.seats.length === 1 && isOnTurn(game)
    && game.players.every((each) => each.seat === game.you?.seat || each.kind === "bot");

  async function ask() {
    const { game } = match;
    if (isAsking) return;
    if (!game || !isPossible(game)) return say(t(game?.you && !isOnTurn(game) ? "table.notYourTurn" : "table.noHints"), { urgent: true });
    const [{ token }] = device.seatsOf(match.id);
    isAsking = true;
    app.update();
    try {
      show(game, await whenReady(api, `v1/games/${encodeURIComponent(match.id)}/hint`, { token, signal }));
    } catch (error) {
      // After a move nobody waits for it.
      if (signal.aborted || match.game?.version !== game.version) return;
      if (error instanceof Problem && error.status === 404) isOffered = false;
      say(isOffered ? app.explain(error) : t("table.noHints"), { urgent: true });
    } finally {
      isAsking = false;
      app.update();
    }
  }

  /** @param {Game} asked the view in which it was asked for @param {Hint} hint */
  function show(asked, { moves: [best], text }) {
    if (!best || match.game?.version !== asked.version) return;
    const { move } = best;
    choice.chooseMove(move);
    const name = move.tile === undefined ? actionText(t, move.action)
      : `${tileName(device.settings.language, move.tile)} ${choice.placeText(move)}`;
    say(`${capitalized(name)}. ${text}`);
  }

  return {
    ask,
    /** @param {Game} game */
    button: (game) => (isPossible(game) && game.legal_moves.length > 1 ? html`<button data-hint aria-disabled=${isAsking} aria-busy=${isAsking}
      @click=${ask}>${t(isAsking ? "table.hintWait" : "table.hint")} <kbd aria-hidden="true">I</kbd></button>` : nothing),
  };
}
