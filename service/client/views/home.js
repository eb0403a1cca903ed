/** Home: the games on this device and whose turn it is, the games that can be played, and the ways into others. */
import { html, nothing, repeat } from "../vendor/lit-html.js";
import { Problem } from "../api.js";
import { fragmentOf, parseRoute } from "../routes.js";
import { HOME } from "../texts/home.js";

/** @typedef {import("../types.js").Game} Game */
/** @typedef {import("../types.js").VariantSummary} VariantSummary */

/** How many of the games on this device are looked up. */
const SHOWN = 20;

/** @param {import("../types.js").App} app @returns {import("../types.js").View} */
export function create(app) {
  const { t, api, device } = app;
  const stop = new AbortController();
  /** @type {VariantSummary[]} */
  let variants = [];
  /** @type {Map<string, Game | "gone">} */
  const games = new Map();

  const load = async () => {
    variants = (await api.get("v1/variants", { signal: stop.signal })).body.variants;
    app.update();
    await Promise.all(gameIds().map(look));
  };
  /** @param {string} id */
  const look = async (id) => {
    try {
      const seat = device.seatsOf(id)[0];
      games.set(id, (await api.get(`v1/games/${id}`, { token: seat?.token, signal: stop.signal })).body);
    } catch (error) {
      if (error instanceof Problem && (error.status === 404 || error.status === 401)) games.set(id, "gone");
    }
    app.update();
  };
  /** The games on this device, the one that was shown last first. */
  const gameIds = () => [...new Set(device.seats().map((each) => each.game))].slice(0, SHOWN);

  /** @param {string} id */
  const gameCard = (id) => {
    const seats = device.seatsOf(id);
    const game = games.get(id);
    const name = variantName(seats[0]?.variant ?? "");
    const tag = game && stateOf(game, seats.map((each) => each.seat));
    return html`<li class="card game">
      <a href=${fragmentOf({ view: "table", game: id })}>${name}</a>
      ${tag ? html`<span class=${tag.turn ? "tag turn" : "tag"}>${tag.text}</span>` : nothing}
      <p class="soft">${game && game !== "gone" ? game.players.map((each) => each.name ?? "…").join(", ") : nothing}</p>
      <p class="soft">${t(HOME.as, { names: seats.map((each) => each.name).join(", ") })}</p>
      <button class="plain" aria-label=${t(HOME.forget, { game: name })} @click=${() => device.forget(id)}>×</button>
    </li>`;
  };
  /** @param {Game | "gone"} game @param {number[]} own */
  const stateOf = (game, own) => {
    if (game === "gone") return { text: t(HOME.gone) };
    if (game.status === "waiting") return { text: t(HOME.waiting) };
    if (game.status === "finished") return { text: t(HOME.finished) };
    if (game.status === "round_over") return { text: t(HOME.roundOver), turn: true };
    const seat = game.turn?.seat ?? -1;
    if (own.includes(seat)) return { text: t(HOME.yourTurn), turn: true };
    return { text: t(HOME.turnOf, { name: game.players[seat]?.name ?? "" }) };
  };
  /** @param {string} id */
  const variantName = (id) => variants.find((each) => each.id === id)?.name ?? id;

  /** @param {SubmitEvent} event */
  const watch = (event) => {
    event.preventDefault();
    const entered = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("game")).trim();
    const route = parseRoute(entered.includes("#") ? entered.slice(entered.indexOf("#")) : `#/watch/${entered}`);
    if (entered && route.view !== "unknown") app.go(route);
  };

  load().catch((error) => {
    if (stop.signal.aborted) return;
    app.announce(app.explain(error), { urgent: true });
  });
  return {
    title: () => t(HOME.title),
    close: () => stop.abort(),
    render: () => html`
      <h1 tabindex="-1">${t(HOME.title)}</h1>
      <p class="lead">${t(HOME.introduction)}</p>
      ${gameIds().length ? html`<h2>${t(HOME.yourGames)}</h2>
        <ul class="cards">${repeat(gameIds(), (id) => id, gameCard)}</ul>` : nothing}
      <h2>${t(HOME.choose)}</h2>
      <ul class="cards">${variants.map((variant) => html`<li class="card variant">
        <h3><a href=${fragmentOf({ view: "new", variant: variant.id })}>${variant.name}</a></h3>
        <p>${variant.summary}</p>
        <p class="soft">${t(variant.players.min === variant.players.max ? HOME.playersExactly : HOME.players, variant.players)}
          · <a href=${fragmentOf({ view: "rules", id: variant.id })} aria-label=${`${t(HOME.rules)}: ${variant.name}`}>${t(HOME.rules)}</a></p>
      </li>`)}</ul>
      <h2>${t(HOME.more)}</h2>
      <div class="buttons">
        <a class="button" href="#/join">${t(HOME.join)}</a>
        <a class="button" href="#/replay">${t(HOME.replay)}</a>
      </div>
      <form class="inline" @submit=${watch}>
        <label for="watch">${t(HOME.watchLabel)}</label>
        <input id="watch" name="game" autocomplete="off" autocapitalize="off" spellcheck="false">
        <button>${t(HOME.watch)}</button>
      </form>`,
  };
}
