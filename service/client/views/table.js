/**
 * The table, where a game is played, watched and heard. Owns the order of its parts, its keys and commands, what is
 * announced, and where the focus goes. The game comes from match.js, the choice of a move from input.js.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { loaded } from "../api.js";
import { TELLING, actionOf, createChoice, keyName } from "../input.js";
import { createMatch } from "../match.js";
import { tileName } from "../names.js";
import {
  actionText, banner, chainText, handList, heading, isOnTurn, log, nameOf, playersList, stateText, tools,
} from "../parts.js";
import { aspectFor, createPicture } from "../picture.js";
import { fragmentOf } from "../routes.js";
import { capitalized } from "../text.js";

/** @import { App, Game, GameEvent, Move, Score, Variant, View } from "../types.js" */

/** For so long, in milliseconds, a hand cannot be shown by what was meant for the hand before. */
const CURTAIN_MS = 400;

/** @param {App} app @param {{game: string, watch?: boolean, token?: string}} route @returns {View} */
export function create(app, { game: id, watch = false, token }) {
  // The token of a link goes to the storage of this browser, and at once out of the address.
  if (token) history.replaceState(null, "", fragmentOf({ view: "table", game: id }));
  const { t, api, device } = app;
  const picture = createPicture(app);
  const closing = new AbortController();
  /** The last answer or refusal, to read and to repeat. */
  let said = "";
  let isRefusal = false;
  /** @type {Variant | undefined} */
  let variant;
  let variantIsLoading = false;
  /** @type {Score | undefined} */
  let score;
  /** @type {typeof import("../invite.js").invite | undefined} loaded when seats are free */
  let invite;
  /** @type {typeof import("../curtain.js") | undefined} loaded for several seats */
  let curtain;
  /** @type {typeof import("../answers.js") | undefined} loaded when something is asked */
  let answers;
  /** @type {ReturnType<typeof import("../presence.js").createPresence> | undefined} loaded when it is needed */
  let presence;
  /** The tile that was just drawn. @type {string | undefined} */
  let drawn;
  let curtainSince = 0;
  let hadFocus = false;
  /** Whether the heading has the focus only because nothing better was there. */
  let atHeading = false;
  let isFirst = true;
  /** What was shown last: a version, and how many events. */
  let latest = 0;
  let latestEvents = 0;

  const area = () => document.querySelector(".table-area")?.getBoundingClientRect();
  const match = createMatch(app, id, {
    watch, token, onChange, aspect: () => aspectFor(area()?.width ?? innerWidth, area()?.height ?? innerHeight),
  });
  const choice = createChoice(app, match, { send, say });

  /** @param {string} message @param {{urgent?: boolean}} [options] */
  function say(message, { urgent = false } = {}) {
    said = capitalized(message);
    isRefusal = urgent;
    app.announce(said, { urgent });
    app.update();
  }

  /** @param {Move} move */
  async function send(move) {
    said = "";
    const refusal = await match.move(move);
    if (!refusal) return;
    const isStale = /** @type {{body?: {code?: string}}} */ (refusal).body?.code === "stale_version";
    if (!isStale) return say(app.explain(refusal), { urgent: true });
    const tile = choice.tile && capitalized(tileName(device.settings.language, choice.tile));
    say(tile ? `${t("table.stale")} ${t("table.stillChosen", { tile })}` : t("table.stale"), { urgent: true });
  }

  /** @param {{game: Game, before: Game | undefined, events: GameEvent[]}} change */
  function onChange({ game, before, events }) {
    choice.check();
    if (match.seat === undefined && before?.you) {
      curtainSince = performance.now();
      said = "";
    }
    if (!variant) void loadVariant(game.variant);
    if (match.seats.length > 1 && !curtain) void load(import("../curtain.js"), (module) => (curtain = module));
    if (game.status === "waiting" && !invite) void load(import("../invite.js"), (module) => ({ invite } = module));
    if (presence || game.clock || game.players.some((each) => each.away || each.forfeited)) void loadPresence();
    const { hand } = before?.you ?? {};
    if (before && before.version < game.version) {
      drawn = hand && before.round === game.round ? game.you?.hand.find((each) => !hand.includes(each)) : undefined;
    }
    const wasOnTurn = before !== undefined && isOnTurn(before);
    if (isOnTurn(game) && !wasOnTurn) {
      said = "";
      app.announce(stateText(app, game), { urgent: true });
      void signal("turn");
    } else if (isOnTurn(game) && before && before.version < game.version) {
      // Where the log tells nobody's tiles, as with several seats, the drawn one is told here.
      const drew = drawn && match.seats.length > 1 ? t("table.drew", { tile: tileName(device.settings.language, drawn) }) : "";
      app.announce(`${drew} ${stateText(app, game)}`.trim());
    } else if (events.some((each) => each.type === "played")) void signal("tile");
    if (game.status !== "round_over" && game.status !== "finished") return;
    if (before?.status !== game.status) picture.fitAll();
    void loadAnswers();
    if (score?.version !== game.version) loadScore().catch(failed);
  }

  /** @param {import("../signals.js").Signal} which */
  async function signal(which) {
    if (!device.settings.sound && !device.settings.vibration) return;
    // The game goes on without it.
    await import("../signals.js").then(({ give }) => give(device.settings, which), () => undefined);
  }

  /** @param {string} name */
  async function loadVariant(name) {
    if (variantIsLoading) return;
    variantIsLoading = true;
    try {
      variant = (await api.get(`v1/variants/${name}`, { signal: closing.signal })).body;
      app.update();
    } catch {
      // The page works without the names of the options; the next change asks again.
    } finally {
      variantIsLoading = false;
    }
  }
  /**
   * Loads a part of this view at its first use.
   * @template Module @param {Promise<Module>} loading @param {(module: Module) => void} use
   */
  async function load(loading, use) {
    try {
      const [module] = await Promise.all([loaded(loading), app.extras()]);
      if (!closing.signal.aborted) use(module);
      app.update();
    } catch (error) {
      failed(error);
    }
  }
  async function loadAnswers() {
    if (!answers) await load(import("../answers.js"), (module) => (answers = module));
    return answers;
  }
  const loadPresence = () => load(import("../presence.js"), ({ createPresence }) => {
    presence ??= createPresence(app, match, failed);
    if (match.game) presence.follow(match.game);
  });
  async function loadScore() {
    score = /** @type {Score} */ ((await api.get(`v1/games/${encodeURIComponent(id)}/score`, { token: match.commonToken(), signal: closing.signal })).body);
    app.update();
    return score;
  }
  /** @param {unknown} error */
  function failed(error) {
    if (!closing.signal.aborted) say(app.explain(error), { urgent: true });
  }

  /** @param {string} action a move without a tile */
  function act(action) {
    const { game } = match;
    if (!game) return;
    const move = otherMoves(game).find((each) => each.action === action);
    if (move) void send(move);
    else say(t(!match.seats.length ? "table.notYours" : game.status === "playing" && !isOnTurn(game) ? "table.notYourTurn" : "table.notNow"), { urgent: true });
  }

  /** The moves that lay no tile. Between rounds, any seat of this device deals. @param {Game} game @returns {Move[]} */
  function otherMoves(game) {
    const dealer = game.status === "round_over" && match.seats.some((each) => game.to_act.includes(each));
    if (dealer && !game.legal_moves.length) return [{ action: "deal", version: game.version }];
    return game.legal_moves.filter((each) => each.action !== "play");
  }

  /** Tells something, or shows the list of the keys. @param {string} action */
  async function tell(action) {
    if (action === "again") return say(said || t("table.nothingSaid"));
    try {
      const to = await loadAnswers();
      if (!to) return;
      if (action === "help") return void to.showKeys(app);
      const card = action === "scores" || action === "count" ? await loadScore() : undefined;
      const { game } = match;
      if (game && !closing.signal.aborted) say(to.textOf(app, action, { game, card, variant, choice, events: match.events, time: presence?.timeText(game) }) ?? "");
    } catch (error) {
      failed(error);
    }
  }

  /**
   * Does what a key or a command means. @param {import("../answers.js").Command} command @param {string} [key]
   * @returns {boolean} whether there was anything to do
   */
  function perform({ action, place, faceDown, outer }, key = "") {
    if (TELLING.includes(action)) void tell(action);
    else if (action === "choose" && key) {
      choice.step(key);
      focusHand();
    } else if (action === "place") {
      choice.choosePlace(place ?? (key === "ArrowUp" ? "previous" : "next"));
      showPlace();
    } else if (action === "left" || action === "right") choice.laySide(action, faceDown, outer);
    else if (isCurtainDown() && action === "lay") showNext();
    else if (action === "lay" || action === "layDown") choice.layChosen(action === "layDown", outer);
    else if (action === "help") void tell(action);
    else if (action === "back") return choice.back();
    else if (action !== "drawer" && action !== "choose") act(action);
    return true;
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const target = event.target instanceof Element ? event.target : null;
    if (!target?.closest("[data-table]")) return false;
    const onControl = target.closest("button, a, summary, [role='button']");
    if (onControl && event.key !== "Escape") return false;
    const action = actionOf(event, device.settings.letters);
    if (!action || action === "drawer") return false;
    const place = /^[1-9]$/.test(event.key) ? Number(event.key) : undefined;
    return perform({ action, place }, event.key);
  }

  /** @param {SubmitEvent} event */
  async function onCommand(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const line = String(new FormData(form).get("command")).trim();
    form.reset();
    (await loadAnswers())?.follow(app, line, { hand: match.game?.you?.hand ?? [], choice, say, perform });
  }

  /** A dragged tile is dropped: at the place that is nearest or, with only one, anywhere on the table. @param {number} x @param {number} y */
  function drop(x, y) {
    const box = area();
    if (!box || x < box.left || x > box.right || y < box.top || y > box.bottom) return;
    const moves = choice.moves();
    const move = moves[moves.length === 1 ? 0 : picture.placeAt(x, y) ?? -1];
    if (move) void send(move);
  }

  // After the page is rendered.
  const region = () => document.querySelector("[data-table]");
  const focusHand = () => queueMicrotask(() =>
    queueMicrotask(() => /** @type {HTMLElement | null} */ (document.querySelector(".hand [tabindex='0']"))?.focus()));
  const showPlace = () => queueMicrotask(() => queueMicrotask(() =>
    document.querySelector(".places .main")?.scrollIntoView({ block: "nearest", inline: "nearest" })));
  function keepFocus() {
    const active = document.activeElement;
    const isLost = !active || active === document.body || (atHeading && active.matches("h1"));
    if (isFirst && isLost && match.game) {
      // A page that was just opened is read from its heading on.
      region()?.querySelector("h1")?.focus({ preventScroll: true });
    } else if (isLost && hadFocus) {
      const places = [".curtain .main", "[data-back]", ".hand [tabindex='0']", ".actions button", "h1"];
      const next = /** @type {HTMLElement | undefined} */ (places.map((each) => region()?.querySelector(each)).find(Boolean));
      next?.focus({ preventScroll: true });
      atHeading = next?.matches("h1") ?? false;
    } else atHeading = false;
    if (match.game) isFirst = false;
    hadFocus = Boolean(region()?.contains(document.activeElement));
    showLatest();
  }

  /** Scrolls the players to the one whose turn it is, and the log to its end, when the game has moved on. */
  function showLatest() {
    if (match.game?.version === latest && match.events.length === latestEvents) return;
    latest = match.game?.version ?? 0;
    latestEvents = match.events.length;
    const players = document.querySelector(".players");
    const player = /** @type {HTMLElement | null | undefined} */ (players?.querySelector(".on-turn"));
    if (players && player) {
      players.scrollTo(player.offsetLeft - players.clientWidth / 2, player.offsetTop - players.clientHeight / 2);
    }
    const events = document.querySelector(".log");
    events?.scrollTo(0, events.scrollHeight);
  }

  /** The hand, or what is there instead. @param {Game} game */
  function ownPart(game) {
    if (isCurtainDown()) return curtain?.curtain(app, game, { seats: match.seats, next: match.next(), show });
    if (game.status === "round_over" || game.status === "finished") return answers?.lastCount(app, game, score);
    if (game.status === "waiting") return invite?.(app, game) ?? nothing;
    if (!game.you) return match.seats.length ? nothing : html`<p class="soft">${t("table.watching")}</p>`;
    return html`
      ${match.seats.length > 1 ? curtain?.whose(app, nameOf(game, game.you.seat), () => match.show(undefined)) : nothing}
      ${handList(app, game, { choice, drop, drawn })}`;
  }

  const isCurtainDown = () => match.seats.length > 1 && match.seat === undefined && match.game?.status === "playing";
  async function leave() {
    await loadPresence();
    if (match.seat !== undefined) await presence?.leave(match.seat);
  }
  /** Takes the seats of this device in the next match of the same players, which begins with the first of them. */
  async function rematch() {
    try {
      let next = id;
      for (const { token: own } of device.seatsOf(id)) {
        const { body } = await api.postOnce(`v1/games/${encodeURIComponent(id)}/rematch`, {}, { token: own });
        next = body.game.id;
        device.keep({ game: next, seat: body.seat, token: body.token, name: body.name, variant: body.game.variant });
      }
      if (!closing.signal.aborted) app.go({ view: "table", game: next });
    } catch (error) {
      failed(error);
    }
  }
  const show = (/** @type {number | undefined} */ seat) => performance.now() - curtainSince > CURTAIN_MS && match.show(seat);
  const showNext = () => show(match.next());

  /** Whether others wait for the shown seat. @param {Game} game */
  const canLeave = ({ players, to_act: toAct, you }) => {
    const own = players[you?.seat ?? -1];
    return toAct.length > 0 && own?.in && !own.away && players.some((each) => each !== own && each.in && each.kind === "human");
  };

  /** Buttons for what is possible with the chosen tile, and without one. @param {Game} game */
  function actions(game) {
    const moves = choice.moves();
    const [only, ...others] = moves;
    const rest = otherMoves(game);
    const name = choice.tile ? tileName(device.settings.language, choice.tile) : "";
    return html`<div class="actions">
      ${others.length ? html`<h2 id="where-to">${t("table.whereTo", { tile: name })}</h2>
        <ol class="places" aria-labelledby="where-to">${moves.map((move, at) => html`<li><button
          class=${at === choice.index ? "main" : ""} data-place=${move.end ?? ""} data-face-down=${move.face_down ? "true" : nothing}
          ?disabled=${match.pending} @click=${() => send(move)}><kbd aria-hidden="true">${at + 1}</kbd> ${place(move)}</button></li>`)}</ol>` : nothing}
      ${only && !others.length ? html`<button class="main" data-action="lay" ?disabled=${match.pending} @click=${() => send(only)}>${
        capitalized(t("table.lay", { tile: name }))}<span class="hidden-text"> ${choice.placeText(only)}</span> <kbd aria-hidden="true">${keyName(app, "lay")}</kbd></button>` : nothing}
      ${rest.map((move) => html`<button class=${rest.length === 1 && !moves.length ? "main" : ""} data-action=${move.action}
        ?disabled=${match.pending} @click=${() => send(move)}>${actionText(t, move.action)} <kbd aria-hidden="true">${keyName(app, move.action)}</kbd></button>`)}
      ${score?.rounds.length && game.status !== "playing" ? html`<a class="button" href=${fragmentOf({ view: "score", id })}>${t("table.scoreCard")}</a>` : nothing}
      ${game.status === "finished" && match.seats.length ? html`<button data-rematch @click=${rematch}>${t("table.rematch")}</button>` : nothing}
      ${game.status === "finished" ? html`<a class="button" href=${fragmentOf({ view: "new", variant: game.variant })}>${t("table.newGame")}</a>
        <a class="button" href=${fragmentOf({ view: "replay", game: id })}>${t("table.replay")}</a>` : nothing}
    </div>`;
  }

  /** A place in words, and what laying the chosen tile there scores. @param {Move} move */
  const place = (move) => html`<span>${capitalized(choice.placeOf(move))}</span>${move.points === undefined ? nothing : html`${
    move.points || move.ends_sum !== undefined ? html`<span class=${move.points ? "tag turn" : "tag"} aria-hidden="true">${
      move.points ? `+${move.points}` : `Σ ${move.ends_sum}`}</span>` : nothing}<span class="hidden-text">, ${choice.scoreText(move)}</span>`}`;

  /** @param {Game} game */
  function tableArea(game) {
    const label = t("table.picture");
    return html`<section class="table-area" aria-label=${label}>${match.board ? picture.render({
      board: match.board,
      places: choice.places(),
      chosen: choice.index < 0 ? undefined : choice.index,
      onPlace: (_, index) => send(choice.moves()[index]),
      label,
      description: chainText(app, game),
      lastTile: match.board.tiles.at(-1)?.tile,
      highest: game.rules.set ?? 6,
    }) : nothing}</section>`;
  }

  /** @param {Game} game */
  const table = (game) => html`
    <div class="screen">
      <div class="top">
        ${banner(app, match)}
        ${heading(app, game, variant)}
        ${playersList(app, game, match.seats.length === 1 ? match.seats : [], presence)}
      </div>
      <div class="middle">
        ${game.status === "waiting" ? nothing : tableArea(game)}
        <div class="own">
          <p class=${isOnTurn(game) ? "state turn" : "state"} data-state>${stateText(app, game)} ${presence?.time(game)}</p>
          ${presence?.actions(game)}
          ${said ? html`<p class=${isRefusal ? "said error" : "said"} data-said>${said}</p>` : nothing}
          ${ownPart(game)}
          ${actions(game)}
        </div>
      </div>
    </div>
    <div class="side">
      ${log(app, match.events)}
      ${tools(app, game, variant, { answers, load: loadAnswers, tell, onCommand, leave: canLeave(game) && leave, presence })}
    </div>`;

  return {
    wide: true,
    get mark() {
      return match.game && isOnTurn(match.game) ? "● " : "";
    },
    title: () => variant?.name ?? t("table.title"),
    close() {
      closing.abort();
      match.close();
      presence?.close();
    },
    key: onKey,
    render() {
      queueMicrotask(keepFocus);
      const { game } = match;
      return html`<div class=${`play ${game?.status ?? ""}`} data-table tabindex="-1">
        ${game ? table(game) : html`<h1 tabindex="-1">${t("table.title")}</h1>${banner(app, match)}${match.failure ? nothing : html`<p>${t("common.loading")}</p>`}`}
      </div>`;
    },
  };
}
