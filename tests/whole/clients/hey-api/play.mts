/**
 * Plays a whole match on a running service, for an application, with the client of @hey-api/openapi-ts.
 *
 * It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON.
 */
import { createClient } from "./client/client/index.js";
import { createGame, getGame, makeMove } from "./client/index.js";

declare const process: { argv: string[] };

const [, , url, key, variant] = process.argv;
const as = (token: string) => createClient({ baseUrl: url, auth: token, throwOnError: true });

const body = { variant, players: [{ name: "P0" }, { name: "P1" }] };
const created = (await createGame({ client: as(key), body, throwOnError: true })).data;
const clients = created.seats.map((seat) => as(seat.token));
let game = created.game;
let moves = 0;
while (game.status !== "finished") {
  const options = { client: clients[game.to_act[0]], path: { game: game.id }, throwOnError: true } as const;
  const view = (await getGame(options)).data;
  game = (await makeMove({ ...options, body: view.legal_moves[0] })).data;
  moves += 1;
}
console.log(JSON.stringify({ game: game.id, variant: game.variant, winners: game.winners, moves }));
