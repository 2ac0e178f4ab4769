package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"leaderboard"
)

const (
	// friendsAsked members have a list each, so many that an answer is rarely cached.
	friendsAsked  = 1000
	friendsRounds = 5
	friendsConns  = 2 // what an answer costs, not how many fit
	fewFriends    = 10
	manyFriends   = 500
	friendsBoard  = "friends"
)

// measureFriends holds a member's place among 500 friends against its place among 10: on a board that the copy in Redis
// holds all of, then on one that it holds the best of, where MySQL has to be asked.
func (w *world) measureFriends(ctx context.Context, rep *report, _ io.Writer) error {
	if _, _, err := w.api.PutBoard(ctx, friendsBoard, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 100_000}); err != nil {
		return err
	}
	defer w.api.DeleteBoard(ctx, friendsBoard) //nolint:errcheck // the next run makes the same
	if err := w.fillOverHTTP(ctx, friendsBoard); err != nil {
		return err
	}
	for _, on := range []struct {
		what, board string
		members     int
	}{
		{fmt.Sprintf("on a board of %s, from Redis", thousands(windowMembers)), friendsBoard, windowMembers},
		{"on the large board, from MySQL", benchBoard, w.members},
	} {
		asked := map[string]bool{} // each has one list
		few, err := w.friendRequests(ctx, asked, on.board, on.members, fewFriends)
		if err != nil {
			return err
		}
		many, err := w.friendRequests(ctx, asked, on.board, on.members, manyFriends)
		if err != nil {
			return err
		}
		var a, b, ratio float64
		err = w.whileWritten(ctx, on.board, on.members, func() (err error) {
			a, b, ratio, err = paired(friendsRounds, w.asks(few), w.asks(many))
			return err
		})
		if err != nil {
			return fmt.Errorf("friends %s: %w", on.what, err)
		}
		rep.add(row{
			What: fmt.Sprintf("%d friends %s", manyFriends, on.what), Here: thousands(b) + "/s",
			Yardstick: fmt.Sprintf("%d friends: %s/s", fewFriends, thousands(a)), Ratio: ratio, Goal: "≤ 3",
		})
	}
	return nil
}

// friendRequests gives members a list of n friends each and returns the requests for their places among them.
func (w *world) friendRequests(ctx context.Context, asked map[string]bool, board string, members, n int) ([][]byte, error) {
	var requests [][]byte
	for len(requests) < friendsAsked {
		member := randomMember(members)
		if asked[member] {
			continue
		}
		asked[member] = true
		friends := map[string]bool{}
		var list []string
		for len(friends) < n {
			if f := randomMember(members); f != member && !friends[f] {
				friends[f] = true
				list = append(list, f)
			}
		}
		if _, err := w.api.PutFriends(ctx, member, list); err != nil {
			return nil, err
		}
		requests = append(requests, fmt.Appendf(nil, "GET /v1/boards/%s/members/%s/friends HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n",
			board, member, benchKey))
	}
	return requests, nil
}

// asks returns how many of the requests are answered a second.
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
