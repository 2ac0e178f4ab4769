package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestMetadataIsOfItsEntry: during writes, hides and restores, while one of two servers is killed again and again and Redis
// is flushed, no answer shows an entry with the metadata of another: from memory, from Redis or from MySQL (promise A8).
func TestMetadataIsOfItsEntry(t *testing.T) {
	t.Parallel()
	t.Run("mysql", func(t *testing.T) { t.Parallel(); metadataIsOfItsEntry(t, newWorld(t)) })
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		metadataIsOfItsEntry(t, worldOn(t, testenv.MariaDB(t), testenv.Redis(t)))
	})
}

func metadataIsOfItsEntry(t *testing.T, w *world) {
	const members = 60
	want := testenv.Size[int64](20_000, 1_000_000)
	a, b := w.serve(t, "server a"), w.serve(t, "server b")
	for board, resident := range map[string]leaderboard.Resident{"memory": leaderboard.ResidentAlways, "redis": leaderboard.ResidentNever} {
		a.putBoard(t, board, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Resident: resident, TopN: members / 2, Metadata: &leaderboard.Metadata{MaxBytes: 100}})
		for m := range members {
			a.mustSubmit(t, board, withMetadata(fmt.Sprint("m", m), int64(m)))
		}
	}
	var first atomic.Pointer[server]
	first.Store(a)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var working sync.WaitGroup
	var read, wrong atomic.Int64
	sources := make([]atomic.Int64, 3)
	server := func(i int) *server { return []*server{first.Load(), b}[i%2] }
	for i := range 4 {
		working.Go(func() {
			for n := int64(1); ctx.Err() == nil; n++ {
				member := fmt.Sprint("m", rand.IntN(members))
				_, _ = server(i).submit(ctx, []string{"memory", "redis"}[i/2], "", withMetadata(member, n*4+int64(i)))
			}
		})
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				board, query := []string{"memory", "redis"}[n%2], client.ReadQuery{Metadata: true}
				page, err := server(i).Top(ctx, board, client.TopQuery{Limit: members, Offset: int64(n % 3 * members / 3), ReadQuery: query})
				if err != nil {
					continue // killed, or the statement about metadata is away
				}
				for _, e := range page.Entries {
					if read.Add(1); !ofItsEntry(&e) && wrong.Add(1) < 10 {
						t.Errorf("%s from %s: %s has %d and %s", board, page.Source, e.Member, e.Score, e.Metadata)
					}
				}
				for i, s := range []leaderboard.Source{leaderboard.SourceLocal, leaderboard.SourceRedis, leaderboard.SourceMySQL} {
					if page.Source == s {
						sources[i].Add(1)
					}
				}
			}
		})
	}
	working.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, _ = b.HideMember(ctx, "memory", fmt.Sprint("m", i%9), "test", client.HideOptions{})
			_ = b.RestoreMember(ctx, "memory", fmt.Sprint("m", i%9), "", client.HideOptions{})
		}
	})
	for kills := 0; kills < 3 || read.Load() < want; kills++ {
		if ctx.Err() != nil {
			t.Fatalf("%d entries were read in time, want %d", read.Load(), want)
		}
		before := read.Load()
		for read.Load() < before+want/10 && ctx.Err() == nil {
			<-time.After(10 * time.Millisecond)
		}
		if kills < 20 {
			first.Load().kill9(t)
			first.Store(w.serve(t, fmt.Sprint("server a again, ", kills)))
		}
		if err := w.redis.FlushDB(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	working.Wait()
	t.Logf("%d entries were read, in answers from memory, Redis and MySQL: %d, %d, %d", read.Load(), sources[0].Load(), sources[1].Load(), sources[2].Load())
	for i := range sources {
		if sources[i].Load() == 0 {
			t.Errorf("no answer of source %d", i)
		}
	}
	for _, board := range []string{"memory", "redis"} {
		page, err := b.Top(t.Context(), board, client.TopQuery{Limit: members, ReadQuery: client.ReadQuery{Metadata: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if !ofItsEntry(&e) {
				t.Errorf("%s in the end: %s has %d and %s", board, e.Member, e.Score, e.Metadata)
			}
		}
	}
}

// withMetadata is a submission whose metadata contains its score; one in four has no metadata.
func withMetadata(member string, score int64) leaderboard.Submission {
	sub := scored(member, score)
	if score%4 != 0 {
		sub.Metadata = fmt.Sprintf(`{"score":%d}`, score)
	}
	return sub
}

// ofItsEntry reports whether an entry has the metadata of withMetadata.
func ofItsEntry(e *client.Entry) bool {
	var of struct{ Score int64 }
	if e.Score%4 == 0 {
		return len(e.Metadata) == 0
	}
	return json.Unmarshal(e.Metadata, &of) == nil && of.Score == e.Score
}
