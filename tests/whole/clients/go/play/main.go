// Plays a whole match on a running service, for an application, with the client of OpenAPI Generator.
//
// It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"example.org/domino/client"
)

// as makes the context of the requests that are sent with this token.
func as(token string) context.Context {
	return context.WithValue(context.Background(), client.ContextAccessToken, token)
}

func play(url, key, variant string) (map[string]any, error) {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: url}}
	api := client.NewAPIClient(configuration)

	request := client.NewGameIn([]client.SeatIn{{Name: client.PtrString("P0")}, {Name: client.PtrString("P1")}})
	request.SetVariant(variant)
	created, _, err := api.GamesAPI.CreateGame(as(key)).GameIn(*request).Execute()
	if err != nil {
		return nil, err
	}
	game, moves := &created.Game, 0
	for game.Status != "finished" {
		mine := as(created.Seats[game.ToAct[0]].Token)
		view, _, err := api.GamesAPI.GetGame(mine, game.Id).Execute()
		if err != nil {
			return nil, err
		}
		if game, _, err = api.MovesAPI.MakeMove(mine, game.Id).Move(view.LegalMoves[0]).Execute(); err != nil {
			return nil, err
		}
		moves++
	}
	return map[string]any{"game": game.Id, "variant": game.Variant, "winners": game.Winners, "moves": moves}, nil
}

func main() {
	match, err := play(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(match); err != nil {
		os.Exit(1)
	}
}
