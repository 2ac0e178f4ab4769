package store_test

import (
	"errors"
	"fmt"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest/dbtest"
)

// TestSnapshotEndsWithItsReader: a reader that fails or panics in the middle of a snapshot leaves no goroutine that reads on (the leak
// check of the package finds one) and no connection that is taken, though the next entries were read ahead.
func TestSnapshotEndsWithItsReader(t *testing.T) {
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		const members = 3500 // more than three parts
		for from := 0; from < members; from += 500 {
			r := leaderboard.SubmitRequest{Board: "b"}
			for i := range 500 {
				r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprintf("m%d", from+i), Score: int64(i)})
			}
			if _, err := s.Writer.Submit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		begin := func(leaderboard.State) error { return nil }
		failure := errors.New("no more")
		for range 100 { // more than the number of connections
			read := 0
			if err := s.Entries.Snapshot(t.Context(), ref, members, begin, func(keys []rank.Key) error { read += len(keys); return failure }); !errors.Is(err, failure) || read > 1000 {
				t.Fatalf("after %d entries: %v", read, err)
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Fatal("no panic")
					}
				}()
				_ = s.Entries.Snapshot(t.Context(), ref, members, begin, func([]rank.Key) error { panic(failure) })
			}()
		}
		read := 0
		if err := s.Entries.Snapshot(t.Context(), ref, members, begin, func(keys []rank.Key) error { read += len(keys); return nil }); err != nil || read != members {
			t.Errorf("%d entries: %v", read, err)
		}
	})
}
