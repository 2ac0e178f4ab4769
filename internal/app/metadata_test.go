package app

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// shownMetadata is an entry of a member in an answer at seq, of one of two kinds, with its metadata.
type shownMetadata struct {
	member       int
	seq, kind, n int64
}

// metadataIn returns the entries of an answer.
func metadataIn(t *testing.T, body []byte) (all []shownMetadata) {
	var got struct {
		Seq     int64
		Entries []struct {
			Member   string
			Score    int64
			Metadata struct{ N int64 }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	for _, e := range got.Entries {
		member, err := strconv.Atoi(strings.TrimPrefix(e.Member, "m"))
		if err != nil {
			t.Error(err)
		}
		all = append(all, shownMetadata{member, got.Seq, e.Score % 10, e.Metadata.N})
	}
	return all
}

// TestMetadataOfEntryThatComesBack: members get and lose the same entry again and again, each time with other metadata, through two
// servers that keep the board and its metadata in memory. No answer shows metadata of before the state that it says it has (promise A8).
func TestMetadataOfEntryThatComesBack(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	servers := []*testApp{startReady(t, dsn, ""), startReady(t, dsn, "")}
	servers[0].Ask(201, "PUT", "/v1/boards/b", `{"resident":"always","policy":"latest","metadata":{"max_bytes":100}}`)
	const members = 5
	seqs := [members][]int64{} // of the n-th submission of each
	submit := func(n int) {
		for m := range members {
			entry := fmt.Sprintf(`{"member":"m%d","score":%d,"created_time":"2026-01-01T00:00:00Z","metadata":{"n":%d}}`, m, m*10+n%2, n)
			receipt := servers[(n+m)%2].Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[`+entry+`]}`)
			seq, err := strconv.ParseInt(receipt.Text("seq"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			seqs[m] = append(seqs[m], seq)
		}
	}
	submit(0)
	for _, a := range servers {
		ref, _, err := a.catalog.Resolve(t.Context(), "b", "", "")
		if err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, func() string {
			if a.Ask(200, "GET", "/v1/boards/b/top", ""); !a.resident.Holds(ref.ID) {
				return "it is not in memory"
			}
			return ""
		})
	}
	var mu sync.Mutex
	var all []shownMetadata
	var ended atomic.Bool
	var working sync.WaitGroup
	defer working.Wait()
	defer ended.Store(true)
	for _, a := range servers {
		for r := range 2 {
			working.Go(func() {
				for n := 0; !ended.Load(); n++ {
					path := fmt.Sprintf("/v1/boards/b/top?metadata=true&limit=%d", members)
					if (n+r)%2 == 0 {
						path = fmt.Sprintf("/v1/boards/b/members/m%d/around?metadata=true", n%members)
					}
					_, body := a.Get(path)
					mu.Lock()
					all = append(all, metadataIn(t, body)...)
					mu.Unlock()
				}
			})
		}
	}
	deadline := time.Now().Add(apptest.MaxWait)
	for n := 1; n < 200 && time.Now().Before(deadline) && !t.Failed(); n++ {
		submit(n)
	}
	ended.Store(true)
	working.Wait()
	wrong := 0
	for _, s := range all {
		var had int64 // at the seq of the answer
		for n, seq := range seqs[s.member] {
			if seq <= s.seq {
				had = int64(n)
			}
		}
		if (s.n < had || s.n%2 != s.kind) && wrong < 5 {
			wrong++
			t.Errorf("at seq %d m%d is shown with n %d, and had %d", s.seq, s.member, s.n, had)
		}
	}
	for i, a := range servers {
		if _, text := a.Get("/metrics"); strings.Contains(string(text), `leaderboard_metadata_entries_total{source="memory"} 0`) {
			t.Errorf("server %d has shown no metadata from memory", i)
		}
	}
	t.Logf("%d entries were read", len(all))
}
