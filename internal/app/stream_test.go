package app

import (
	"context"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestStreams: what is submitted through one server shows on the streams of another, with Redis or without; and a server that
// stops does not wait for its streams, whose clients come back.
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
