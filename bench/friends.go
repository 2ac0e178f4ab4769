package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"leaderboard"
)

const (
	friendsRounds  = 7
	friendsSeconds = 2
	friendsConns   = 2 // what an answer costs, not how many fit
	fewFriends     = 10
	manyFriends    = 500
	friendsBoard   = "friends"
)

// measureFriends holds a member's place among 500 friends against its place among 10: on a small board, then on the
// large one.
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
		{fmt.Sprintf("on a board of %s", thousands(windowMembers)), friendsBoard, windowMembers},
		{"on the large board", benchBoard, w.members},
	} {
		few, err := w.friendRequests(ctx, on.board, on.members, fewFriends)
		if err != nil {
			return err
		}
		many, err := w.friendRequests(ctx, on.board, on.members, manyFriends)
		if err != nil {
			return err
		}
		written := w.write(ctx, on.board, on.members, 1)
		a, b, ratio, err := paired(friendsRounds, w.asks(few), w.asks(many))
		if err := errors.Join(err, written.finish()); err != nil {
			return fmt.Errorf("friends %s: %w", on.what, err)
		}
		rep.add(row{
			What: fmt.Sprintf("%d friends %s", manyFriends, on.what), Here: thousands(b) + "/s",
			Yardstick: fmt.Sprintf("%d friends: %s/s", fewFriends, thousands(a)), Ratio: ratio, Goal: "≤ 3",
		})
	}
	return nil
}

// friendRequests gives members a list of n friends each and returns the requests for their places among them. The
// members of fewFriends are others than those of more.
func (w *world) friendRequests(ctx context.Context, board string, members, n int) ([][]byte, error) {
	first := 0
	if n != fewFriends {
		first = friendLists
	}
	var requests [][]byte
	for i := range friendLists {
		member := string(appendMember(nil, first+i))
		if _, err := w.api.PutFriends(ctx, member, distinctMembers(members, n, member)); err != nil {
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
		result := load{addr: w.addr, conns: friendsConns, length: w.seconds(friendsSeconds), request: anyOf(requests)}.run()
		return result.perSecond(), result.failure()
	}
}
