/**
 * The waiting room: when its free seats are filled, and what who sits there may do about them; below, the invitation.
 * Loaded while a game waits.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { Problem } from "../shell/api.js";
import { invite } from "./invite.js";
import { usualLevel } from "./opponents.js";

/** @import { App, Game, Variant } from "../shell/types.js" */

/** Whether a change is under way, of which the stream will tell. */
let isAsking = false;

/**
 * @param {App} app @param {Game} game
 * @param {{variant: Variant | undefined, time: unknown, failed: (error: unknown) => void}} more `time`: until the seats are filled
 */
export function waitingRoom(app, game, { variant, time, failed }) {
  const { t, api, device } = app;
  const own = device.seatsOf(game.id);
  const token = own[0]?.token;
  const path = `v1/games/${encodeURIComponent(game.id)}`;
  const free = game.players.filter((each) => each.kind === "open");
  const here = game.players.length - free.length;
  const level = usualLevel(variant?.bots ?? []);
  const { set } = game.options;
  const mayBegin = variant?.deals.some((row) => row.players === here && (set === undefined || row.set === set));

  /** @param {() => Promise<unknown>} change */
  const ask = async (change) => {
    if (isAsking) return;
    isAsking = true;
    app.update();
    await change().catch(failed);
    isAsking = false;
    app.update();
  };
  /** Gives these seats to computer players, but for those that somebody took meanwhile. @param {Game["players"]} seats */
  const fill = (seats) => ask(async () => {
    for (const { seat } of seats) {
      await api.send("PUT", `${path}/players/${seat}`, { token, body: { bot: level } }).catch(unless(409));
    }
  });
  // Whose token is none any more has left already.
  const leave = () => ask(async () => {
    for (const seat of own) await api.send("DELETE", `${path}/players/${seat.seat}`, { token: seat.token }).catch(unless(401));
    device.forget(game.id);
    app.go({ view: "home" });
  });
  const button = (/** @type {string} */ name, /** @type {unknown} */ label, /** @type {() => void} */ act, look = "") =>
    html`<button class=${look} data-room=${name} aria-disabled=${isAsking} @click=${act}>${label}</button>`;
  const isInvited = device.joinCode(game.id) !== undefined;
  const buttons = () => html`<div class="buttons actions">
    ${level ? button("fill", t("room.fill", { count: free.length }), () => fill(free), isInvited ? "" : "main") : nothing}
    ${level && free.length > 1 ? button("add", t("room.add"), () => fill(free.slice(0, 1))) : nothing}
    ${mayBegin ? button("begin", t("room.begin", { count: here }), () => ask(() => api.postOnce(`${path}/start`, {}, { token }))) : nothing}
    ${button("leave", t("room.leave"), leave, "plain")}</div>`;
  // Where friends are invited, their link comes first.
  return html`${time ? html`<p class="fills">${time}</p>` : nothing}
    ${!token ? nothing : isInvited ? html`<details class="fold"><summary>${t("room.more")}</summary>${buttons()}</details>` : buttons()}
    ${invite(app, game)}`;
}

/** Ignores a refusal with that status. @param {number} status */
const unless = (status) => (/** @type {unknown} */ error) => {
  if (!(error instanceof Problem && error.status === status)) throw error;
};
