package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// watchPart receives a submitted score without asking, on the whole board and around a member, and the end of the board.
func watchPart(t *testing.T, c *client.Client) []string {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	makeBoard(t, c, "watched", leaderboard.Rules{})
	submit := func(member string, score int64) {
		_, err := c.Submit(ctx, "watched", []leaderboard.Submission{{Member: member, Score: score}})
		must(t, err)
	}
	for page, err := range c.Watch(ctx, "watched", client.WatchQuery{Member: "newbie"}) {
		must(t, err)
		if len(page.Entries) > 0 && page.Entries[len(page.Entries)-1].Member == "newbie" {
			break
		}
		if len(page.Entries) > 0 || page.Board != "watched" {
			t.Errorf("not ranked yet: %+v", page)
		}
		submit("newbie", 1)
	}
	events := 0
	for page, err := range c.Watch(ctx, "watched", client.WatchQuery{Limit: 2}) {
		must(t, err)
		switch events++; {
		case page.Entries[0].Member == "dot":
			cancelled := 0
			for around, err := range c.Watch(ctx, "watched", client.WatchQuery{Member: "cid", Before: 1, Mode: leaderboard.ModeAll}) {
				if err != nil {
					if !errors.Is(err, leaderboard.ErrBoardNotFound) || cancelled == 0 {
						t.Errorf("the end: %v after %d", err, cancelled)
					}
					return []string{"streamPage"}
				}
				if cancelled++; around.Entries[0].Member != "bob" || around.Entries[1].TiedRank != 4 {
					t.Errorf("around: %+v", around)
				}
				must(t, c.DeleteBoard(ctx, "watched"))
			}
		case events == 1:
			submit("dot", 1000)
		}
	}
	t.Error("the stream has ended")
	return nil
}

// TestWatchComesBack: a stream that ends is opened again when the server says, or after a while. A stream that ends for good is
// not.
func TestWatchComesBack(t *testing.T) {
	t.Parallel()
	const page = "id: all_time.1\nevent: page\ndata: {\"board\":\"b\",\ndata: \"seq\":1,\"entries\":[]}\n\n"
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		c := scripted(t, &script{answers: []func(*http.Request) (*http.Response, error){
			answer(200, page+":\n\n"+page+"retry: 7000\n\n", 0),
			answer(200, page, 0),
			lost,
			answer(200, page+"event: gone\ndata: "+notRanked+"\n\n", 0),
		}}, &waited)
		began, pages, at := time.Now(), 0, []time.Duration{}
		for p, err := range c.Watch(t.Context(), "b", client.WatchQuery{}) {
			if err != nil {
				if !errors.Is(err, leaderboard.ErrNotRanked) {
					t.Errorf("the end: %v", err)
				}
				break
			}
			if pages++; p.Seq != 1 || p.Board != "b" {
				t.Errorf("%+v", p)
			}
			at = append(at, time.Since(began))
		}
		if pages != 4 || at[1] != 0 || at[2] < 3500*time.Millisecond || at[2] > 11*time.Second || at[3] < at[2]+500*time.Millisecond || len(waited) != 1 {
			t.Errorf("%d pages at %v, %d attempts failed", pages, at, len(waited))
		}
	})
}

// TestWatchTellsWhoPassed: each notice is yielded once, though each stream begins with the notices of the last minute.
func TestWatchTellsWhoPassed(t *testing.T) {
	t.Parallel()
	const page = "id: all_time.1\nevent: page\ndata: {\"board\":\"b\",\"seq\":1,\"entries\":[]}\n\n"
	passed := func(n int) string {
		return fmt.Sprintf("id: evt_%d\nevent: passed\ndata: {\"member\":\"ada\",\"by\":{\"member\":\"bob\",\"score\":9007199254740993,\"previous_score\":-1},\"seq\":%d}\n\n", n, n)
	}
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		var asked []string
		streams := []string{page + passed(1) + page, passed(1) + page + passed(2) + "event: gone\ndata: " + notRanked + "\n\n"}
		var answers []func(*http.Request) (*http.Response, error)
		for _, body := range streams {
			answers = append(answers, func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.URL.RawQuery)
				return answer(200, body, 0)(r)
			})
		}
		c := scripted(t, &script{answers: answers}, &waited)
		var told []int64
		pages := 0
		for _, err := range c.Watch(t.Context(), "b", client.WatchQuery{Member: "ada", OnPassed: func(p client.MemberPassed) {
			if p.Member != "ada" || p.By != (client.PassedBy{Member: "bob", Score: 9007199254740993, PreviousScore: -1}) {
				t.Errorf("told %+v", p)
			}
			told = append(told, p.Seq)
		}}) {
			if err != nil {
				break
			}
			pages++
		}
		if !slices.Equal(told, []int64{1, 2}) || pages != 3 || len(asked) != 2 || !strings.Contains(asked[0], "passed=true") || asked[1] != asked[0] {
			t.Errorf("told %v between %d pages of %q", told, pages, asked)
		}
	})
}

// TestWatchBreaksOff: a caller that breaks off, or whose context ends, receives no further page.
func TestWatchBreaksOff(t *testing.T) {
	t.Parallel()
	const page = "event: page\ndata: {\"seq\":1}\n\n"
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		c := scripted(t, &script{answers: []func(*http.Request) (*http.Response, error){answer(200, page, 0)}}, &waited)
		for _, err := range c.Watch(t.Context(), "b", client.WatchQuery{}) {
			must(t, err)
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pages := 0
		for _, err := range c.Watch(ctx, "b", client.WatchQuery{}) {
			if err != nil {
				if !errors.Is(err, context.Canceled) || pages != 3 {
					t.Errorf("%v after %d pages", err, pages)
				}
				return
			}
			if pages++; pages == 3 {
				cancel()
			}
		}
		t.Error("the end was not told")
	})
}
