package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
)

const (
	// friendsAsked members have a list each, so many that an answer is rarely one that is at hand.
	friendsAsked  = 1000
	friendsRounds = 5
	friendsConns  = 8
	fewFriends    = 10
	manyFriends   = 500
)

// measureFriends holds a member's place among 500 friends against its place among 10: friends of the best 10,000, all of
// whom the copy in Redis holds, then friends of the whole board, who are looked for in MySQL.
func (w *world) measureFriends(ctx context.Context, rep *report, _ io.Writer) error {
	best, err := w.bestMembers(ctx, 10_000)
	if err != nil {
		return err
	}
	for _, from := range []struct {
		what string
		pick func() string
	}{
		{"of the top 10,000", func() string { return best[rand.IntN(len(best))] }},
		{"of the whole board", func() string { return randomMember(w.members) }},
	} {
		asked := map[string]bool{} // each has one list
		few, err := w.friendRequests(ctx, asked, from.pick, fewFriends)
		if err != nil {
			return err
		}
		many, err := w.friendRequests(ctx, asked, from.pick, manyFriends)
		if err != nil {
			return err
		}
		var a, b, ratio float64
		err = w.whileWritten(ctx, func() error {
			var err error
			a, b, ratio, err = paired(friendsRounds, w.asks(few), w.asks(many))
			return err
		})
		if err != nil {
			return fmt.Errorf("friends %s: %w", from.what, err)
		}
		rep.add(row{
			What: fmt.Sprintf("%d friends %s, the cost of an answer", manyFriends, from.what), Here: thousands(b) + "/s",
			Yardstick: fmt.Sprintf("%d friends: %s/s", fewFriends, thousands(a)), Ratio: ratio, Goal: "≤ 3",
		})
	}
	return nil
}

// bestMembers are the best n members of the board.
func (w *world) bestMembers(ctx context.Context, n int) ([]string, error) {
	var members []string
	for offset := 0; offset < n; offset += 1000 {
		var page struct {
			Entries []struct {
				Member string `json:"member"`
			} `json:"entries"`
		}
		path := fmt.Sprintf("%s/top?limit=1000&offset=%d", boardPath, offset)
		if err := w.call(ctx, http.MethodGet, path, "", func(b []byte) error { return json.Unmarshal(b, &page) }); err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			members = append(members, e.Member)
		}
	}
	return members, nil
}

// friendRequests give members a list of n friends each and ask for their places among them.
func (w *world) friendRequests(ctx context.Context, asked map[string]bool, pick func() string, n int) ([][]byte, error) {
	var requests [][]byte
	for len(requests) < friendsAsked {
		member := pick()
		if asked[member] {
			continue
		}
		asked[member] = true
		friends := map[string]bool{}
		var body struct {
			Members []string `json:"members"`
		}
		for len(friends) < n {
			if f := pick(); f != member && !friends[f] {
				friends[f] = true
				body.Members = append(body.Members, f)
			}
		}
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		if err := w.call(ctx, http.MethodPut, "/v1/members/"+member+"/friends", string(text), nil); err != nil {
			return nil, err
		}
		requests = append(requests, fmt.Appendf(nil, "GET %s/members/%s/friends HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n",
			boardPath, member, benchKey))
	}
	return requests, nil
}

// asks is how many of the requests are answered a second.
func (w *world) asks(requests [][]byte) func() (float64, error) {
	return func() (float64, error) {
		result := load{addr: w.addr, conns: friendsConns, length: w.seconds(readSeconds), request: func(_, _ int, buf []byte) []byte {
			return append(buf, requests[rand.IntN(len(requests))]...)
		}}.run()
		if result.failed > 0 {
			return 0, fmt.Errorf("%d of %d failed: %s", result.failed, result.answers, result.firstFail)
		}
		return result.perSecond(), nil
	}
}
