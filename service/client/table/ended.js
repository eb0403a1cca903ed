/**
 * What follows a round: its count, and the ways on from there and from the end of the match, with the rematch. Reads the
 * view and the score card. Loaded when a round is over.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { fragmentOf } from "../shell/routes.js";
import { hasColours, tileImage } from "./tiles.js";

/** @import { App, Game, Score } from "../shell/types.js" */

/** The tiles that a seat kept, turned up, their sum, and what the round wrote. @param {App} app @param {Game} game @param {Score["rounds"][number]} round @param {number} seat */
export function counted({ t, device }, game, { hands, scores }, seat) {
  const hand = hands.find((each) => each.seat === seat);
  const options = { vertical: true, colours: hasColours(device.settings, game.options.set), digits: device.settings.digits };
  const points = scores[seat];
  return html`<span class="kept" aria-hidden="true">${hand?.tiles.length ? html`<span class="kept-tiles">${hand.tiles.map((each) => tileImage(each, options))}</span>
    <span class="kept-sum">${t("table.kept", { sum: hand.value })}</span>` : nothing}${
    points ? html`<span class="written">${points > 0 ? `+${points}` : `−${-points}`}</span>` : nothing}</span>`;
}

/** What the last round has written. @param {App} app @param {Game} game @param {Score | undefined} score */
export function lastCount({ t }, game, score) {
  const round = score?.rounds.find((each) => each.number === game.round);
  // A match can end by forfeits, in a round that is never counted.
  if (score && !round && game.status === "finished") {
    return html`<section class="last-count"><p>${t("answers.byForfeit")}</p></section>`;
  }
  return html`<section class="last-count" aria-labelledby="count-title">
    <h2 id="count-title">${t("answers.lastCount", { round: game.round })}</h2>
    ${round ? html`<table>
      <thead><tr><th scope="col">${t("answers.player")}</th><th scope="col" class="number">${t("answers.written")}</th><th scope="col" class="number">${t("answers.total")}</th></tr></thead>
      <tbody>${game.players.map((each) => html`<tr class=${game.winners.includes(each.seat) ? "winner" : ""}><th scope="row">${each.name}</th>
        <td class="number">${round.scores[each.seat]}</td><td class="number">${each.total}</td></tr>`)}</tbody>
    </table>` : nothing}
    ${game.carry ? html`<p>${game.unit === "wins" ? t("table.drawn", { count: game.carry }) : t("table.carry", { points: game.carry })}</p>` : nothing}
  </section>`;
}

/**
 * The ways on: the score card and, after the match, a rematch for those who played it, a new game, and the replay.
 * @param {App} app @param {Game} game @param {Score | undefined} score @param {(() => void) | false} rematch
 */
export const waysOn = ({ t }, game, score, rematch) => html`
  ${score?.rounds.length && game.status !== "playing" ? html`<a class="button" href=${fragmentOf({ view: "score", id: game.id })}>${t("table.scoreCard")}</a>` : nothing}
  ${game.status === "finished" && rematch ? html`<button data-rematch @click=${rematch}>${t("table.rematch")}</button>` : nothing}
  ${game.status === "finished" ? html`<a class="button" href=${fragmentOf({ view: "new", variant: game.variant })}>${t("table.newGame")}</a>
    <a class="button" href=${fragmentOf({ view: "replay", game: game.id })}>${t("table.replay")}</a>` : nothing}`;

/**
 * Takes the seats of this device in the next match of the same players, which begins with the first of them.
 * @param {App} app @param {string} id of the game @returns {Promise<string>} the id of the next one
 */
export async function takeSeatsAgain({ api, device }, id) {
  let next = id;
  for (const { token } of device.seatsOf(id)) {
    const { body } = await api.postOnce(`v1/games/${encodeURIComponent(id)}/rematch`, {}, { token });
    next = body.game.id;
    device.keep({ game: next, seat: body.seat, token: body.token, name: body.name, variant: body.game.variant });
  }
  return next;
}
