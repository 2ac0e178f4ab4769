// Command go tries the client that oapi-codegen makes against a running server: leaderboard's address and an admin key
// are its arguments. That it compiles is what make openapi asks of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"openapi-tools/out/api"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go ADDRESS ADMIN-KEY")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// What the program makes, and takes away again.
const (
	board  = "openapi-go"
	member = "openapi-ada"
)

// run makes a board, fills it, reads it, and deletes it.
func run(ctx context.Context, address, key string) (err error) {
	client, err := api.NewClientWithResponses(address, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	if err := create(ctx, client); err != nil {
		return err
	}
	defer func() {
		_, deleted := client.DeleteBoardWithResponse(ctx, board, nil)
		_, forgotten := client.ForgetMemberWithResponse(ctx, member, nil)
		err = errors.Join(err, deleted, forgotten)
	}()
	if err := submit(ctx, client); err != nil {
		return err
	}
	if err := profile(ctx, client); err != nil {
		return err
	}
	if err := top(ctx, client); err != nil {
		return err
	}
	return problem(ctx, client)
}

// create needs no rule: all of them have defaults. What a board shows is always there, so nothing of it is a pointer.
func create(ctx context.Context, client *api.ClientWithResponses) error {
	r, err := client.PutBoardWithResponse(ctx, board, nil, api.BoardRules{Mode: new(api.ModeTied), Limits: &api.LimitRules{MaxScore: new(int64(100))}})
	if err != nil {
		return err
	}
	if r.JSON201 == nil {
		return fmt.Errorf("put board: %s %s", r.Status(), r.Body)
	}
	b := *r.JSON201
	fmt.Printf("board %s: %s, %s, %v, refresh %s, top_n %d, at most %d\n", b.Name, b.Order, b.Mode, b.Windows, b.Refresh.Incremental, b.TopN, *b.Limits.MaxScore)
	return nil
}

func submit(ctx context.Context, client *api.ClientWithResponses) error {
	params := api.SubmitScoresParams{IdempotencyKey: new("openapi-go-1")}
	r, err := client.SubmitScoresWithResponse(ctx, board, &params, api.Submit{Entries: []api.Submission{
		{Member: member, Score: new(api.Int64(90))}, {Member: "bob", Score: new(api.Int64(90)), Tiebreak: new(int64(7))}, {Member: "eve", Score: new(api.Int64(101))},
	}})
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return fmt.Errorf("submit: %s %s", r.Status(), r.Body)
	}
	for _, result := range r.JSON200.Results {
		switch result.Status {
		case api.ResultStatusApplied:
			fmt.Printf("%s has %d\n", result.Member, *result.Score)
		case api.ResultStatusRejected:
			fmt.Printf("%s is rejected: %s, %s\n", result.Member, result.Error.Type, result.Error.Detail)
		}
	}
	return nil
}

// profile puts attributes, whose values are strings, numbers or booleans.
func profile(ctx context.Context, client *api.ClientWithResponses) error {
	var level, country api.AttributeValue
	if err := errors.Join(level.FromAttributeValue1(7.25), country.FromAttributeValue0("DE")); err != nil {
		return err
	}
	r, err := client.PutProfileWithResponse(ctx, member, nil, api.ProfileFields{
		DisplayName: new("Ada"), Attributes: &map[string]api.AttributeValue{"country": country, "level": level},
	})
	if err != nil {
		return err
	}
	shown := r.JSON200
	if shown == nil {
		shown = r.JSON201
	}
	if shown == nil {
		return fmt.Errorf("put profile: %s %s", r.Status(), r.Body)
	}
	read, err := shown.Attributes["level"].AsAttributeValue1()
	fmt.Printf("%s is %s, level %v\n", shown.Member, shown.DisplayName, read)
	return err
}

func top(ctx context.Context, client *api.ClientWithResponses) error {
	r, err := client.GetTopWithResponse(ctx, board, &api.GetTopParams{Limit: new(10), Profiles: new(true), MinSeq: new(int64(1))})
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return fmt.Errorf("top: %s %s", r.Status(), r.Body)
	}
	fmt.Printf("%d entries at seq %d from %s, ETag %s\n", r.JSON200.Total, r.JSON200.Seq, r.JSON200.Source, r.Headers200.ETag)
	for _, e := range r.JSON200.Entries {
		name := e.Member
		if e.Profile != nil {
			name = e.Profile.DisplayName
		}
		fmt.Printf("%d. %s %d at %s\n", *e.Rank, name, e.Score, e.CreatedTime)
	}
	if len(r.JSON200.Entries) != 2 {
		return fmt.Errorf("there are %d entries, want 2", len(r.JSON200.Entries))
	}
	return nil
}

// problem asks for what is not there: the answer has a type that can be compared.
func problem(ctx context.Context, client *api.ClientWithResponses) error {
	r, err := client.GetMemberWithResponse(ctx, board, "nobody", nil)
	if err != nil {
		return err
	}
	p := r.ApplicationproblemJSON404
	if p == nil || p.Type != api.ProblemsnotRanked {
		return fmt.Errorf("member nobody: %s %s", r.Status(), r.Body)
	}
	fmt.Printf("nobody: %s: %s\n", p.Type, p.Detail)
	return nil
}
