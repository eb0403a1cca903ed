/**
 * Plays a whole match on a running service, for an application, with the functions of orval, which call fetch.
 *
 * It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON. The address of the
 * service is in the functions, and each call takes the headers that it sends.
 */
import { createGame, getGame, makeMove } from "./client.js";

declare const process: { argv: string[] };

const [, , key, variant] = process.argv;
const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

const answer = await createGame({ variant, players: [{ name: "P0" }, { name: "P1" }] }, undefined, as(key));
if (answer.status !== 201) throw new Error(answer.data.title);
const { seats } = answer.data;
let game = answer.data.game;
let moves = 0;
while (game.status !== "finished") {
  const mine = as(seats[game.to_act[0]].token);
  const view = await getGame(game.id, undefined, mine);
  if (view.status !== 200) throw new Error(`${view.status}`);
  const moved = await makeMove(game.id, view.data.legal_moves[0], undefined, mine);
  if (moved.status !== 201) throw new Error(moved.data.title);
  game = moved.data;
  moves += 1;
}
console.log(JSON.stringify({ game: game.id, variant: game.variant, winners: game.winners, moves }));
