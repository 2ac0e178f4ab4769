package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
)

// feedService is a service that has a board at seq 7 and then these changes, each committed 50 ms before it is asked for.
func feedService(t *testing.T, seqs ...int64) *world {
	t.Helper()
	last := int64(7)
	for _, seq := range seqs {
		last = max(last, seq)
	}
	var exports atomic.Int64
	w := fakeService(t, func(w http.ResponseWriter, r *http.Request) {
		switch at := w.Header(); {
		case strings.HasSuffix(r.URL.Path, "/export"):
			seq := int64(7)
			if exports.Add(1) > 1 {
				seq = last
			}
			at.Set("Leaderboard-Seq", fmt.Sprint(seq))
			at.Set("Leaderboard-Total", "0")
			at.Set("Leaderboard-As-Of", "2026-11-20T11:00:00.000000Z")
			at.Set("Leaderboard-Cursor", "begin")
		case r.URL.Query().Get("after") == "begin":
			at.Set("Leaderboard-Cursor", "end")
			for _, seq := range seqs {
				fmt.Fprintf(w, `{"period":"all_time","seq":%d,"committed_at":%q,"member":"m","cursor":"c"}`+"\n",
					seq, time.Now().Add(-50*time.Millisecond).UTC().Format(time.RFC3339Nano))
			}
		default:
			<-r.Context().Done()
		}
	})
	var err error
	if w.api, err = client.New("http://"+w.addr, client.WithMaxWait(0)); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFollower: a follower that has all changes knows how old they were.
func TestFollower(t *testing.T) {
	w := feedService(t, 8, 9, 10)
	f, err := w.follow(t.Context(), w.api)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.catchUp(t.Context(), w.service); err != nil {
		t.Fatal(err)
	}
	if len(f.ages) != 3 || f.ages[0] < 50*time.Millisecond || f.ages[2] > answerLimit {
		t.Errorf("changes came after %v", f.ages)
	}
}

// TestFollowerMissesNone: a change that comes twice or not at all ends the measurement.
func TestFollowerMissesNone(t *testing.T) {
	for want, seqs := range map[string][]int64{"change 10 comes after 8": {8, 10}, "change 8 comes after 8": {8, 8, 9}} {
		w := feedService(t, seqs...)
		f, err := w.follow(t.Context(), w.api)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), answerLimit)
		if err := f.catchUp(ctx, w.service); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("changes %v: %v", seqs, err)
		}
		cancel()
		f.stop()
	}
}
