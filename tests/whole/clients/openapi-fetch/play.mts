/**
 * Plays a whole match of each game on a running service, for an application, with openapi-fetch and the types of
 * openapi-typescript.
 *
 * It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON for each match.
 * With names of games it plays only those.
 */
import createClient from "openapi-fetch";
import type { paths } from "./domino.js";

declare const process: { argv: string[] };

const [, , url, key, ...games] = process.argv;
const as = (token: string) => createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
const anybody = createClient<paths>({ baseUrl: url });
const application = as(key);

/** The body of an answer, which has to be a good one. */
function expect<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

/** Leave and come back, claim too early, play a match to its end, and make the last move again; what was seen. */
async function play(variant: string, players: number) {
  const seats = Array.from({ length: players }, (_, seat) => ({ name: `P${seat}` }));
  const absence = { then: "claim" as const };
  const body = { variant, players: seats, clock: { turn: 3600 }, absence, pace: 0.5 };
  const created = expect(await application.POST("/v1/games", { body }));
  const clients = created.seats.map(({ token }) => as(token));
  const params = { path: { game: created.game.id } };
  let game = created.game;
  const away = [];
  for (const leaving of [true, false]) {
    const seat = { path: { ...params.path, seat: 0 } };
    const put = { params: seat, body: { away: leaving } };
    game = expect(await clients[0].PUT("/v1/games/{game}/players/{seat}/presence", put)); // maybe after a computer's move
    away.push(game.players[0].away === true);
  }
  const late = game.to_act[0];
  const claim = { params, body: { seat: late } };
  const early = (await clients[late === 0 ? 1 : 0].POST("/v1/games/{game}/claims", claim)).error?.code;
  for (let moves = 1; ; moves += 1) {
    const client = clients[game.to_act[0]];
    const view = expect(await client.GET("/v1/games/{game}", { params }));
    const post = () => client.POST("/v1/games/{game}/moves", { params, body: view.legal_moves[0] });
    game = expect(await post());
    if (game.status === "finished") {
      const refused = [early, (await post()).error?.code];
      const score = expect(await anybody.GET("/v1/games/{game}/score", { params }));
      const totals = score.standings.map((standing) => standing.total);
      const record = expect(await client.GET("/v1/games/{game}/record", { params }));
      if (typeof record === "string") throw new Error("the record is text, which was not asked for");
      return { game: game.id, winners: record.winners, totals, away, refused, moves };
    }
  }
}

for (const offered of expect(await anybody.GET("/v1/variants")).variants) {
  if (games.length > 0 && !games.includes(offered.id)) continue;
  const params = { path: { variant: offered.id }, header: { "Accept-Language": "de" } };
  const variant = expect(await anybody.GET("/v1/variants/{variant}", { params }));
  const options = Object.keys(variant.options["properties"] as object);
  const match = await play(variant.id, variant.players.min);
  console.log(JSON.stringify({ variant: variant.id, language: variant.language, options, ...match }));
}
