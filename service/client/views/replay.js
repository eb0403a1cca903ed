/** Replays a match from its record: the table, the open hands and the sentence of every step. */
import { html, nothing } from "../vendor/lit-html.js";
import { parseTile, tileName } from "../game/names.js";
import { framesOf } from "../game/replays.js";
import { Problem } from "../shell/api.js";
import { fly, isStill, middleOf } from "../table/motion.js";
import { aspectFor, createPicture } from "../table/picture.js";
import { hasColours, tileImage } from "../table/tiles.js";
import { recordForm } from "./record.js";
import { createReview } from "./review.js";

/** @import { App, View } from "../shell/types.js" */

/** @import { Frame, Replay } from "../game/replays.js" */

/** Milliseconds for a step when the match plays by itself. */
const PACE = 1000;

/** @param {App} app @param {{game?: string}} route @returns {View} */
export function create(app, { game }) {
  const { t, api, device, update, announce } = app;
  const stop = new AbortController();
  const picture = createPicture(app, (laid, target) => {
    const hand = document.querySelector(`.open-hands > li[data-seat="${laid.seat}"] h3`);
    if (hand && !isStill(device.settings)) fly(laid, middleOf(hand), target, device.settings);
  });
  let record = "";
  let isLoading = false;
  let failure = "";
  let variantName = "";
  /** @type {Replay | undefined} */
  let replay;
  let round = 0;
  /** @type {Frame[]} of the round */
  let frames = [];
  let at = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const review = game === undefined || !device.seatsOf(game).length ? undefined : createReview(app, game, { show: showBefore, signal: stop.signal });

  /** Does something that takes a while, and says if it fails. @param {() => Promise<void>} work */
  async function attempt(work) {
    isLoading = true;
    failure = "";
    update();
    try {
      await work();
    } catch (error) {
      if (stop.signal.aborted) return;
      fail(app.explain(error));
    } finally {
      isLoading = false;
      update();
    }
  }

  /** @param {string} message */
  function fail(message) {
    failure = message;
    announce(message, { urgent: true });
    update();
  }

  /** The record as everybody may know it, or as a player does where there are no spectators. @param {string} id */
  const loadGame = (id) => attempt(async () => {
    const request = { headers: { Accept: "text/plain" }, signal: stop.signal };
    const path = `v1/games/${encodeURIComponent(id)}/record`;
    const [seat] = device.seatsOf(id);
    record = (await api.get(path, request).catch(async (error) => {
      if (!seat || !(error instanceof Problem && error.status === 404)) throw error;
      return api.get(path, { ...request, token: seat.token });
    })).body;
    await start();
  });
  async function start() {
    const query = { aspect: aspectFor(innerWidth, innerHeight / 2) };
    /** @type {Replay} */
    const found = (await api.post("v1/replays", record, { query, headers: { "Content-Type": "text/plain" }, signal: stop.signal })).body;
    if (!found.rounds.length) return fail(found.fault?.text ?? t("replay.noRounds"));
    replay = found;
    variantName = found.variant;
    showRound(0);
    focusHeading();
    const { body } = await api.get("v1/variants", { signal: stop.signal });
    variantName = body.variants.find((/** @type {{id: string}} */ each) => each.id === found.variant)?.name ?? variantName;
  }

  /** @param {number} index */
  function showRound(index) {
    if (!replay) return;
    round = index;
    frames = framesOf(replay.rounds[index]);
    show(0);
  }
  /** @param {number} index of the frame */
  function show(index) {
    at = Math.max(0, Math.min(frames.length - 1, index));
    announce(frames[at].step.text);
    update();
    afterRender(showInLog);
  }
  /** What had the focus is gone with the form, or with the replay. */
  const focusHeading = () => afterRender(() => /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus());
  function showInLog() {
    const log = document.querySelector(".replay .steps");
    const current = log?.querySelector("[aria-current]");
    if (!log || !current) return;
    const [outer, inner] = [log.getBoundingClientRect(), current.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom) log.scrollTop += inner.top - outer.top - outer.height / 2;
  }

  function pause() {
    clearInterval(timer);
    timer = undefined;
    update();
  }
  function togglePlay() {
    if (timer) return pause();
    if (isEnd()) showRound(0);
    timer = setInterval(() => {
      if (at < frames.length - 1) show(at + 1);
      else if (!isEnd()) showRound(round + 1);
      else pause();
    }, PACE);
    update();
  }
  const isEnd = () => at === frames.length - 1 && round === (replay?.rounds.length ?? 0) - 1;
  /** @param {number} index */
  const jump = (index) => {
    pause();
    show(index);
  };

  /** @param {number} version of a move @returns {number} the index of its round */
  const roundAt = (version) => Math.max(0, replay?.rounds.findIndex(({ steps }) => steps.some((each) => each.version === version)) ?? 0);
  /** Shows the table on which a move was made. @param {number} version of the move */
  function showBefore(version) {
    pause();
    showRound(roundAt(version));
    show(frames.findIndex((each) => each.step.version === version) - 1);
    document.querySelector(".stage")?.scrollIntoView({ block: "nearest" });
  }

  const playOn = () => attempt(async () => {
    const players = replay?.players.map((each) => ("bot" in each ? { bot: each.bot } : { name: each.name ?? String(each.seat + 1) }));
    const { body } = await api.postOnce("v1/games", { continues: { record, version: frames[at].step.version }, players, auto: true }, { signal: stop.signal });
    for (const { seat, name, token } of body.seats) device.keep({ game: body.game.id, seat, name, token, variant: body.game.variant });
    if (!stop.signal.aborted) app.go({ view: "table", game: body.game.id });
  });

  /** @param {string} text */
  const startFrom = (text) => {
    record = text;
    void attempt(start);
  };
  const problem = () => (failure ? html`<p class="note warn" data-failure>${failure}</p>` : nothing);
  /** The record as a file, as this view can read it. */
  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([record], { type: "text/plain" }));
    link.download = `${game ?? "match"}.domino`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }

  const form = () => recordForm(app, { game, record, isLoading, problem: problem(), onRecord: startFrom, onFailure: fail });

  /** @param {Replay} match */
  function shown(match) {
    const { step, board, hands } = frames[at];
    const position = t("replay.stepOf", { step: at + 1, number: frames.length });
    return html`<div class="replay">
      <header><div><p class="soft over">${variantName}</p><h1 tabindex="-1">${t("replay.title")}</h1></div>
        <label>${t("replay.round")} <select @change=${(/** @type {Event} */ event) => {
          pause();
          showRound(Number(/** @type {HTMLSelectElement} */ (event.target).value));
        }}>${match.rounds.map((each, index) => html`<option value=${index} .selected=${index === round}>${each.round}</option>`)}</select></label>
      </header>
      <div class="stage">
        ${picture.render({
          board, lastTile: board.tiles.at(-1)?.tile, highest: highest(match),
          label: t("replay.table", { step: at + 1 }), description: step.text,
        })}
        <p class="sentence" data-sentence>${step.text}</p>
        <div class="controls">
          <input type="range" min="0" max=${frames.length - 1} step="1" .value=${String(at)} aria-label=${t("replay.step")} aria-valuetext=${position}
            @input=${(/** @type {Event} */ event) => jump(Number(/** @type {HTMLInputElement} */ (event.target).value))}>
          <div class="buttons" role="group" aria-label=${t("replay.step")}>
            ${control("first", at === 0, () => jump(0))}${control("previous", at === 0, () => jump(at - 1))}
            <button class="main" data-step="play" @click=${togglePlay}>${t(timer ? "replay.pause" : "replay.play")}</button>
            ${control("next", at === frames.length - 1, () => jump(at + 1))}${control("last", at === frames.length - 1, () => jump(frames.length - 1))}
            <span class="soft">${position}</span>
          </div>
        </div>
      </div>
      <div class="beside">
        <h2>${t("replay.hands")}</h2>
        <ul class="open-hands">${match.players.map((each) => handOf(match, each, hands[each.seat] ?? [], each.seat === step.seat))}</ul>
        <h2 id="replay-steps">${t("replay.steps")}</h2>
        <ol class="steps" aria-labelledby="replay-steps">${frames.map((frame, index) => html`<li><button class="plain"
          aria-current=${index === at ? "step" : nothing} @click=${() => jump(index)}>${frame.step.text}</button></li>`)}</ol>
        <p class="soft">${t("replay.keys")}</p>
        ${match.finished ? review?.render((seat) => match.players[seat]?.name ?? String(seat + 1), (version) => match.rounds[roundAt(version)].round) : nothing}
        ${match.fault ? html`<p class="note warn" data-fault>${faultText(match.fault)}</p>` : nothing}
        ${problem()}
        <div class="buttons">
          <button aria-describedby="play-on" ?disabled=${isLoading} @click=${playOn}>${t("replay.playOn")}</button>
          <button @click=${save}>${t("replay.save")}</button>
          <a class="button" href="#/replay" @click=${leave}>${t("replay.another")}</a>
        </div>
        <p class="soft" id="play-on">${t("replay.playOnHint")}</p>
      </div>
    </div>`;
  }
  /** @param {{text: string, line?: number}} fault */
  const faultText = ({ text, line }) => (line === undefined ? t("replay.fault", { text }) : t("replay.faultInLine", { line, text }));
  /** Back to the form, also where its address is the one that is shown. */
  function leave() {
    pause();
    replay = undefined;
    update();
    focusHeading();
  }

  /** @param {keyof typeof ICONS} name @param {boolean} isOff @param {() => void} act */
  const control = (name, isOff, act) => html`<button aria-label=${t(`replaySteps.${name}`)} title=${t(`replaySteps.${name}`)} data-step=${name}
    aria-disabled=${isOff} @click=${act}><svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d=${ICONS[name]}></path></svg></button>`;

  /** @param {Replay} match @param {{seat: number, name?: string}} player @param {string[]} tiles @param {boolean} isActive */
  const handOf = (match, { seat, name }, tiles, isActive) => {
    const colours = hasColours(device.settings, highest(match));
    const words = tiles.map((each) => tileName(device.settings.language, each)).join(", ");
    return html`<li class=${isActive ? "active" : nothing} data-seat=${seat}><h3>${name ?? seat + 1}</h3>
      <p>${tiles.map((each) => tileImage(each, { colours, digits: device.settings.digits }))}
        ${tiles.length ? nothing : html`<span class="soft">${t("replay.noTiles")}</span>`}<span class="hidden-text">${words}</span></p></li>`;
  };

  if (game) void loadGame(game);
  return {
    title: () => t("replay.title"),
    get wide() {
      return replay !== undefined;
    },
    key(event) {
      if (!replay) return false;
      const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: frames.length - 1 }[event.key];
      if (target === undefined) return picture.key(event);
      jump(target);
      return true;
    },
    close() {
      stop.abort();
      clearInterval(timer);
      picture.close();
    },
    render: () => (replay ? shown(replay) : form()),
  };
}

/** @param {() => void} act */
const afterRender = (act) => queueMicrotask(() => queueMicrotask(act));

const ICONS = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  previous: "M16 5l-9 7 9 7z",
  next: "M8 5l9 7-9 7z",
  last: "M18 5v14M5 5l9 7-9 7z",
};

/** The highest number that is to be seen in a match. @param {Replay} match */
const highest = ({ rounds }) =>
  Math.max(6, ...rounds.flatMap(({ board, hands }) => [...board.tiles.map((each) => each.tile), ...hands.flatMap((each) => each.tiles ?? [])]
    .flatMap(parseTile)));
