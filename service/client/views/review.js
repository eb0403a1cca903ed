/**
 * The review of a finished match, beside its replay: what each player gave away, what of the results was luck of the
 * deals, and every clear mistake with the move that was better. Owns asking for it, which only players of the match may. The service works it out, from what each
 * player could know.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { numberName, tileName } from "../game/names.js";
import { Problem } from "../shell/api.js";
import { whenReady } from "../shell/ready.js";
import { actionText } from "../table/input.js";

/** @import { App, Move } from "../shell/types.js" */

/** So many mistakes are shown, the largest first. */
const MAX_MISTAKES = 5;

/**
 * @typedef {{version: number, seat: number, move: Move, best: Move, given_away: number, error: number, text: string}} Decision
 * `version`: of the move
 * @typedef {{result: number, luck: number, luck_error: number, skill: number, skill_error: number}} Luck
 * @typedef {{seat: number, decisions: number, given_away: number, error: number} & Luck} Reviewed
 * @typedef {{players: Reviewed[], decisions: Decision[]}} Review
 */

/**
 * @param {App} app @param {string} game
 * @param {object} options
 * @param {(version: number) => void} options.show shows the table on which the move of that version was made
 * @param {AbortSignal} options.signal the view is left
 */
export function createReview(app, game, { show, signal }) {
  const { t, api, device } = app;
  const path = `v1/games/${encodeURIComponent(game)}/review`;
  let isOffered = true;
  let isWorking = false;
  let failure = "";
  /** @type {Review | undefined} */
  let review;
  /** The version of the mistake that is shown. @type {number | undefined} */
  let shown;

  async function ask() {
    if (isWorking) return;
    isWorking = true;
    failure = "";
    app.update();
    try {
      const request = { token: device.seatsOf(game)[0]?.token, signal };
      await api.postOnce(path, {}, request);
      review = /** @type {Review} */ (await whenReady(api, path, request));
      const mistakes = review.decisions.filter(isMistake).length;
      app.announce(mistakes ? `${t("review.mistakes")}: ${mistakes}` : t("review.none"));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status === 404) isOffered = false;
      failure = isOffered ? app.explain(error) : t("review.missing");
      app.announce(failure, { urgent: true });
    } finally {
      isWorking = false;
      app.update();
    }
  }

  /** @param {number} version */
  function choose(version) {
    shown = version;
    show(version);
  }
  const points = (/** @type {number} */ number) => number.toLocaleString(device.settings.language, { maximumFractionDigits: 1 });
  const signed = (/** @type {number} */ number) =>
    number.toLocaleString(device.settings.language, { maximumFractionDigits: 1, signDisplay: "exceptZero" });
  /** @param {string} name @param {Luck} told */
  const luckText = (name, { result, luck, luck_error, skill, skill_error }) => t("review.luck", {
    name, result: signed(result), luck: signed(luck), luckError: points(luck_error), skill: signed(skill), skillError: points(skill_error),
  });
  const hasDirection = (/** @type {string | undefined} */ end) => end === "left" || end === "right";
  /** @param {Move} move */
  function nameOf({ action, tile, end, face_down: faceDown, outer }) {
    if (tile === undefined) return actionText(t, action);
    const { language } = device.settings;
    const name = tileName(language, tile);
    const place = hasDirection(end) ? `${name} ${t(`places.${end}`)}` : name;
    if (faceDown) return `${place}, ${t("table.faceDown")}`;
    return outer === undefined ? place : `${place}, ${t("table.outside", { number: numberName(language, outer) })}`;
  }
  /** The better move; another end for the same tile has no name where ends are no directions. @param {Decision} decision */
  const betterOf = ({ move, best }) =>
    (best.tile !== undefined && best.tile === move.tile && best.end !== move.end && !hasDirection(best.end)
      ? t("review.elsewhere", { move: nameOf(best) }) : nameOf(best));

  /** @param {Review} review @param {(seat: number) => string} player @param {(version: number) => number} roundOf */
  function result({ players, decisions }, player, roundOf) {
    const mistakes = decisions.filter(isMistake).sort((one, other) => other.given_away - one.given_away).slice(0, MAX_MISTAKES);
    return html`<table>
      <thead><tr><th scope="col">${t("review.player")}</th><th scope="col" class="number">${t("review.decisions")}</th>
        <th scope="col" class="number">${t("review.givenAway")}</th></tr></thead>
      <tbody>${players.map((each) => html`<tr><th scope="row">${player(each.seat)}</th><td class="number">${each.decisions}</td>
        <td class="number">${t("review.share", { points: points(each.given_away), error: points(each.error) })}</td></tr>`)}</tbody>
    </table>
    <h3 id="luck">${t("review.luckTitle")}</h3><p class="soft">${t("review.luckHint")}</p>
      <ul aria-labelledby="luck">${players.map((each) => html`<li>${luckText(player(each.seat), each)}</li>`)}</ul>
    ${mistakes.length ? html`<h3 id="mistakes">${t("review.mistakes")}</h3>
      <ol class="mistakes" aria-labelledby="mistakes">${mistakes.map((each) => html`<li><button class="plain" data-version=${each.version}
        aria-current=${each.version === shown ? "true" : nothing}
        @click=${() => choose(each.version)}>${t("review.mistake", {
          round: roundOf(each.version), name: player(each.seat), move: nameOf(each.move), best: betterOf(each), points: points(each.given_away),
        })} ${each.text}</button></li>`)}</ol>` : html`<p>${t("review.none")}</p>`}`;
  }

  return {
    /**
     * @param {(seat: number) => string} player the name of a seat
     * @param {(version: number) => number} roundOf the number of the round of a move
     */
    render: (player, roundOf) => html`<section class="review" aria-labelledby="review">
      <h2 id="review">${t("review.title")}</h2>
      ${review ? result(review, player, roundOf) : html`<p class="soft">${t("review.introduction")}</p>
        ${failure ? html`<p class="note warn">${failure}</p>` : nothing}
        ${isOffered ? html`<button data-review aria-disabled=${isWorking} aria-busy=${isWorking} @click=${ask}>${
          t(isWorking ? "review.working" : "review.start")}</button>` : nothing}`}
    </section>`,
  };
}

/** Whether another move was clearly better: only then the service names one. @param {Decision} decision */
const isMistake = ({ move, best }) => best.action !== move.action || best.tile !== move.tile || best.end !== move.end
  || best.outer !== move.outer || Boolean(best.face_down) !== Boolean(move.face_down);
