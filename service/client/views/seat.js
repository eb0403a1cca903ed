/**
 * Takes over a seat by its link. The token goes from the address to the storage of this browser and the address is
 * replaced, before anything is asked or shown.
 */
import { html } from "../vendor/lit-html.js";
import { COMMON } from "../text.js";

/** @param {import("../types.js").App} app @param {{game: string, token: string}} route @returns {import("../types.js").View} */
export function create(app, { game, token }) {
  history.replaceState(null, "", "#/");
  let message = app.t(COMMON.loading);
  let closed = false;
  app.api.get(`v1/games/${encodeURIComponent(game)}`, { token }).then(
    ({ body }) => {
      const seat = body.you?.seat;
      app.device.keep({ game, seat, token, name: body.players[seat].name, variant: body.variant });
      if (!closed) app.go({ view: "table", game }, { replace: true });
    },
    (error) => {
      message = app.explain(error);
      app.announce(message, { urgent: true });
      app.update();
    },
  );
  return {
    title: () => app.t(COMMON.home),
    render: () => html`<h1 tabindex="-1">${app.t(COMMON.home)}</h1><p>${message}</p><p><a href="#/">${app.t(COMMON.toHome)}</a></p>`,
    close: () => {
      closed = true;
    },
  };
}
