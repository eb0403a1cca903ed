/**
 * Who is at the table: the clock beside the state of the game, players who are away, and the buttons to leave, to come
 * back, and to let a computer player go on for somebody whose time is over. Loaded when a game has a clock, when
 * somebody is away, or when somebody leaves.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { createCountdown } from "../game/clock.js";
import { timeText } from "../game/durations.js";
import { confirm } from "../shell/dialog.js";
import { nameOf } from "./parts.js";

/** @import { App, Game } from "../shell/types.js" */

/**
 * @param {App} app @param {import("../game/match.js").Match} match
 * @param {(error: unknown) => void} failed called with a refusal
 */
export function createPresence(app, match, failed) {
  const { t, api, device } = app;
  const path = `v1/games/${encodeURIComponent(match.id)}`;
  const countdown = createCountdown(app, match.look);
  let isAsking = false;

  /** @param {number} seat */
  const tokenOf = (seat) => device.seatsOf(match.id).find((each) => each.seat === seat)?.token;
  /** The seats of this device that a computer player plays. @param {Game} game */
  const awayHere = (game) => match.seats.filter((seat) => game.players[seat]?.away);

  /** Asks for a change, of which the stream tells. @param {() => Promise<unknown>} change */
  async function ask(change) {
    if (isAsking) return;
    isAsking = true;
    app.update();
    try {
      await change();
    } catch (error) {
      failed(error);
    } finally {
      isAsking = false;
      app.update();
    }
  }
  /** @param {number} seat @param {boolean} away */
  const setAway = (seat, away) =>
    ask(() => api.send("PUT", `${path}/players/${seat}/presence`, { token: tokenOf(seat), body: { away } }));
  /** @param {number} seat @param {number} by */
  const claim = (seat, by) => ask(() => api.postOnce(`${path}/claims`, { seat }, { token: tokenOf(by) }));

  /** The seat whose time is over, and the one of this device that may claim it. @param {Game} game */
  function claimable({ turn, absence, players }) {
    if (absence?.then !== "claim" || turn?.deadline === undefined || !countdown.isOver()) return undefined;
    const seats = match.seats.filter((seat) => seat !== turn.seat && players[seat]?.active);
    const by = seats.find((seat) => seat === match.seat) ?? seats[0];
    return by === undefined ? undefined : { seat: turn.seat, by };
  }

  /** What the time is until. @param {Game} game */
  const label = ({ deal, turn }) => t(deal ? "presence.timeToDeal" : turn ? "presence.timeLeft" : "presence.timeToFill");

  return {
    /** Takes over the view that is shown. */
    follow: countdown.follow,
    close: countdown.close,
    /** Lets a computer player go on for a seat of this device. @param {number} seat */
    leave: (seat) => setAway(seat, true),
    /** Gives up the match for a seat of this device, if that is meant. @param {number} seat */
    async resign(seat) {
      const isMeant = await confirm(app, { title: t("resign.title"), text: t("resign.text"), action: t("table.resign") });
      if (isMeant) await ask(() => api.postOnce(`${path}/players/${seat}/resignation`, {}, { token: tokenOf(seat) }));
    },

    /** What is left of the time for the turn or the deal. @param {Game} game */
    time(game) {
      const left = countdown.left();
      if (left === undefined) return nothing;
      return html`<span class=${countdown.isShort(left) ? "clock short" : "clock"} role="timer">${
        left ? html`<span class=${game.turn ? "hidden-text" : ""}>${label(game)}</span> ${countdown.text(left)}` : t("presence.over")}</span>`;
    },
    /** The same in milliseconds; none while no time runs. */
    left: countdown.left,
    /** The same as a sentence. @param {Game} game */
    timeText(game) {
      const left = countdown.left();
      return left === undefined ? "" : left ? `${label(game)} ${countdown.text(left)}.` : `${t("presence.over")}.`;
    },
    /** What is left of the bank of a seat. @param {Game} game @param {Game["players"][number]} player */
    bank(game, { seat, bank }) {
      if (bank === undefined) return nothing;
      const time = countdown.text((game.turn?.seat === seat ? countdown.left() : undefined) ?? 1000 * bank);
      return html`<span class="bank"><span aria-hidden="true">${time}</span><span class="hidden-text">, ${t("presence.bank", { time })}</span></span>`;
    },
    /** What is to be said of a player in a word. @param {Game} game @param {Game["players"][number]} player */
    marks: ({ status }, { away, forfeited }) =>
      [...(forfeited ? [t("presence.forfeited")] : []), ...(away && status !== "finished" ? [t("presence.away")] : [])],

    /** The clock of the game in words. @param {Game} game */
    about: (game) => game.clock && html`<p>${timeText(app, game)}</p>`,

    /** Buttons for who comes back, and for who waits for somebody whose time is over. @param {Game} game */
    actions(game) {
      if (game.status === "finished") return nothing;
      const late = claimable(game);
      const sleeps = game.players.every((each) => each.kind !== "human" || each.away || !each.active);
      const isOnlyOne = match.seats.length === 1;
      const left = awayHere(game).filter((seat) => game.players[seat].forfeited);
      return html`${left.map((seat) => html`<div class="note presence"><p>${t("presence.gaveUp", { name: nameOf(game, seat) })}</p>
        <a class="button" href="#/">${t("common.toHome")}</a></div>`)}
      ${awayHere(game).filter((seat) => !left.includes(seat)).map((seat) => html`<div class="note presence"><p>${
        sleeps ? t("presence.sleeps") : isOnlyOne ? t("presence.youAreAway") : t("presence.isAway", { name: nameOf(game, seat) })}</p>
        <button class="main" data-back=${seat} ?disabled=${isAsking} @click=${() => setAway(seat, false)}>${
          isOnlyOne ? t("presence.back") : t("presence.isBack", { name: nameOf(game, seat) })}</button></div>`)}
      ${late ? html`<div class="note presence"><button class="main" data-claim=${late.seat} ?disabled=${isAsking} @click=${() => claim(late.seat, late.by)}>${
        t("presence.claim", { name: nameOf(game, late.seat) })}</button></div>` : nothing}`;
    },
  };
}
