package client_test

import (
	"errors"
	"fmt"
	"os"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

func Example() {
	ctx, c := exampleClient() // client.New("http://127.0.0.1:8080", client.WithKey(key))
	if _, _, err := c.PutBoard(ctx, "chess", leaderboard.Rules{Mode: "tied"}); err != nil {
		fmt.Println(err)
	}
	receipt, err := c.Submit(ctx, "chess", []leaderboard.Submission{{Member: "ada", Score: 90}, {Member: "bob", Score: 85}, {Member: "cid", Score: 90}})
	if err != nil {
		fmt.Println(err)
	}
	page, err := c.Top(ctx, "chess", client.TopQuery{Limit: 10, ReadQuery: client.ReadQuery{MinSeq: receipt.Seq}})
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range page.Entries {
		fmt.Println(e.Rank, e.Member, e.Score)
	}
	// Output:
	// 1 ada 90
	// 1 cid 90
	// 3 bob 85
}

func ExampleProblem() {
	ctx, c := exampleClient()
	_, err := c.Member(ctx, "demo", "nobody", client.ReadQuery{})
	fmt.Println(errors.Is(err, leaderboard.ErrNotRanked))
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code())
	}
	// Output:
	// true
	// 404 not-ranked
}

func ExampleClient_Submit() {
	ctx, c := exampleClient()
	if _, _, err := c.PutBoard(ctx, "charity", leaderboard.Rules{Policy: "sum"}); err != nil {
		fmt.Println(err)
	}
	// The same key, also from another process: the amount counts once.
	payment := client.SubmitOptions{IdempotencyKey: "payment-4711"}
	for range 2 {
		receipt, err := c.Submit(ctx, "charity", []leaderboard.Submission{{Member: "ada", Score: 50}}, payment)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(receipt.Results[0].Status, *receipt.Results[0].Score)
	}
	// Output:
	// applied 50
	// applied 50
}

func ExampleClient_Entries() {
	ctx, c := exampleClient()
	n := 0
	for e, err := range c.Entries(ctx, "demo", client.TopQuery{}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		if n++; n == 1 {
			fmt.Println("the best has rank", e.Rank)
		}
	}
	fmt.Println(n, "entries")
	// Output:
	// the best has rank 1
	// 100 entries
}

func ExampleClient_Around() {
	ctx, c := exampleClient()
	best, err := c.Top(ctx, "demo", client.TopQuery{Limit: 1, Offset: 49})
	if err != nil {
		fmt.Println(err)
	}
	page, err := c.Around(ctx, "demo", best.Entries[0].Member, 2, 2, client.ReadQuery{})
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range page.Entries {
		fmt.Println(e.Rank)
	}
	// Output:
	// 48
	// 49
	// 50
	// 51
	// 52
}

func ExampleClient_Held() {
	ctx, c := exampleClient()
	rules := leaderboard.Rules{
		Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitOwn},
		Review:  &leaderboard.Review{Hold: []leaderboard.HoldRule{{By: leaderboard.HoldByPlayers}}},
	}
	if _, _, err := c.PutBoard(ctx, "reviewed", rules); err != nil {
		fmt.Println(err)
	}
	token, err := c.CreateToken(ctx, client.TokenRequest{Member: "ada"})
	if err != nil {
		fmt.Println(err)
	}
	_, player := exampleClient(client.WithKey(token.Token))
	if _, err := player.Submit(ctx, "reviewed", []leaderboard.Submission{{Member: "ada", Score: 90}}); err != nil {
		fmt.Println(err)
	}
	for h, err := range c.Held(ctx, "reviewed", "", leaderboard.HeldStateWaiting) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(h.Member, *h.Score, h.Reason)
		if h, err = c.ApproveHeld(ctx, h.ID, "seen on video", false); err != nil {
			fmt.Println(err)
		}
		fmt.Println(h.State, h.Outcome)
	}
	// Output:
	// ada 90 an admin decides: a player has submitted it
	// approved applied
}

func ExampleClient_ExportEntries() {
	ctx, c := exampleClient()
	var sum int64
	for e, err := range c.ExportEntries(ctx, "demo", client.ExportQuery{}) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // not all of them came
			break
		}
		sum += e.StrictRank
	}
	fmt.Println(sum)
	// Output:
	// 5050
}

func ExampleClient_Ranks() {
	ctx, c := exampleClient()
	if _, _, err := c.PutBoard(ctx, "guild", leaderboard.Rules{}); err != nil {
		fmt.Println(err)
	}
	receipt, err := c.Submit(ctx, "guild", []leaderboard.Submission{{Member: "ada", Score: 90}, {Member: "bob", Score: 85}, {Member: "cyd", Score: 95}})
	if err != nil {
		fmt.Println(err)
	}
	ranks, err := c.Ranks(ctx, "guild", []string{"bob", "ada", "nobody"}, client.ReadQuery{MinSeq: receipt.Seq})
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range ranks.Entries {
		fmt.Println(e.Rank, e.Member)
	}
	// Output:
	// 2 ada
	// 3 bob
}

func ExampleClient_PutProfile() {
	ctx, c := exampleClient()
	if _, _, err := c.PutProfile(ctx, "player-17", client.ProfileFields{DisplayName: "Ada", Attributes: map[string]any{"country": "GB"}}); err != nil {
		fmt.Println(err)
	}
	profile, err := c.Profile(ctx, "player-17")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(profile.DisplayName, string(profile.Attributes))
	// Output:
	// Ada {"country":"GB"}
}

func ExampleClient_Watch() {
	ctx, c := exampleClient()
	for page, err := range c.Watch(ctx, "demo", client.WatchQuery{Limit: 3}) { // the page of now, then one after each change
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(len(page.Entries), "entries")
		break
	}
	// Output:
	// 3 entries
}

func ExampleClient_HideMember() {
	ctx, c := exampleClient()
	if _, _, err := c.PutBoard(ctx, "ladder", leaderboard.Rules{}); err != nil {
		fmt.Println(err)
	}
	if _, err := c.Submit(ctx, "ladder", []leaderboard.Submission{{Member: "ada", Score: 90}, {Member: "bob", Score: 999}}); err != nil {
		fmt.Println(err)
	}
	hidden, err := c.HideMember(ctx, "ladder", "bob", "speed hack", client.HideOptions{})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(hidden.Member, "is hidden:", hidden.Reason)
	if err := c.RestoreMember(ctx, "ladder", "bob", "it was somebody else", client.HideOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// bob is hidden: speed hack
}
