package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestStreamsOverTheTurn: at the rollover to a new hour the streams of a member continue, without entries until it plays again.
// Streams that are opened then behave alike.
func TestStreamsOverTheTurn(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	ahead.Store(int64(30*time.Minute - time.Since(time.Now().Truncate(time.Hour)))) // half an hour from the turns
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t), func(c *Config) {
		c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	})
	a.Ask(201, "PUT", "/v1/boards/b", `{"windows":["hour"]}`)
	c, err := client.New(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
	defer cancel()
	var first string
	for page, err := range c.Watch(ctx, "b", client.WatchQuery{Member: "ada"}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case first == "" && len(page.Entries) == 0:
			submit(a, "ada", 10)
		case first == "":
			first = page.Period
			ahead.Add(int64(time.Hour))
		case len(page.Entries) == 0 && page.Period > first:
			for again, err := range c.Watch(ctx, "b", client.WatchQuery{Member: "ada", Mode: leaderboard.ModeTied}) {
				if err != nil || len(again.Entries) > 0 || again.Period != page.Period {
					t.Fatalf("opened again: %v, %+v", err, again)
				}
				break
			}
			submit(a, "ada", 20)
		case page.Period > first:
			return
		}
	}
}

// TestStreams: a score submitted through one server shows on the streams of another, with Redis or without. A server that
// stops does not wait for its streams, and their clients connect again.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, redisURL := range []string{testenv.Redis(t), ""} {
		dsn := testenv.MySQL(t)
		writer, reader := startReady(t, dsn, redisURL), startReady(t, dsn, redisURL)
		writer.Ask(201, "PUT", "/v1/boards/b", `{}`)
		submit(writer, "ada", 10)
		c, err := client.New(reader.URL)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
		ended := make(chan error, 1)
		pages := make(chan client.Page)
		go func() {
			for page, err := range c.Watch(ctx, "b", client.WatchQuery{Limit: 5}) {
				if err != nil {
					ended <- err
					return
				}
				pages <- page
			}
		}()
		seen := func(member string) {
			t.Helper()
			for {
				select {
				case page := <-pages:
					if len(page.Entries) > 0 && page.Entries[0].Member == member && !page.Stale {
						return
					}
				case err := <-ended:
					t.Fatalf("the stream has ended: %v", err)
				}
			}
		}
		seen("ada")
		submit(writer, "bob", 20)
		seen("bob")
		submit(writer, "cid", 30)
		seen("cid")
		reader.stop()
		if strings.Contains(reader.log.String(), "cut off") {
			t.Error("the server waited for its streams until they were cut off")
		}
		cancel()
		if err := <-ended; ctx.Err() == nil {
			t.Errorf("the stream has ended: %v", err)
		}
	}
}
