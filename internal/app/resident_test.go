package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// inMemory gives a server a board with a number of entries that is kept in memory, and returns its period.
func inMemory(t *testing.T, a *testApp, board string, entries int) leaderboard.PeriodRef {
	t.Helper()
	a.Ask(201, "PUT", "/v1/boards/"+board, `{"resident":"always"}`)
	for from := 0; from < entries; from += 500 {
		body := `{"entries":[`
		for i := from; i < min(from+500, entries); i++ {
			body += fmt.Sprintf(`{"member":"m%d","score":%d},`, i, i%97)
		}
		a.Ask(200, "POST", "/v1/boards/"+board+"/scores", body[:len(body)-1]+`]}`)
	}
	ref, _, err := a.catalog.Resolve(t.Context(), board, "", "")
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if a.resident.Get(&ref, 0) == nil {
			a.Ask(200, "GET", "/v1/boards/"+board+"/top", "")
			return "it is not in memory"
		}
		return ""
	})
	return ref
}

// TestResidentUnderLoad: while two servers write a board, both answer from memory what MySQL answers at the same seq, for every
// kind of question, and the seq never goes back.
func TestResidentUnderLoad(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	servers := []*testApp{startReady(t, dsn, ""), startReady(t, dsn, "")}
	ref := inMemory(t, servers[0], "b", 1500)
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	for i, a := range servers {
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, err := a.store.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{{Member: fmt.Sprintf("m%d", rand.IntN(1600)), Score: int64(n % 150)}}})
				if err != nil && ctx.Err() == nil && !errors.Is(err, leaderboard.ErrOverloaded) {
					t.Errorf("server %d: %v", i, err)
				}
			}
		})
	}
	compared, last := 0, make([]int64, len(servers))
	deadline := time.Now().Add(apptest.MaxWait)
	for compared < 300 && time.Now().Before(deadline) && !t.Failed() {
		i := compared % len(servers)
		here, there, seq := oneQuestion(t, servers[i], ref)
		if seq < last[i] {
			t.Errorf("server %d went back from seq %d to %d", i, last[i], seq)
		}
		if last[i] = seq; here == "" {
			continue // they were at different states
		}
		if compared++; here != there {
			t.Errorf("from memory:\n%s\nMySQL says:\n%s", here, there)
		}
	}
	if compared < 30 { // on a busy machine
		t.Errorf("%d answers could be compared", compared)
	}
}

// oneQuestion asks a server and MySQL the same; both are "" when they answered at different states.
func oneQuestion(t *testing.T, a *testApp, ref leaderboard.PeriodRef) (here, there string, seq int64) {
	t.Helper()
	ctx, query := t.Context(), leaderboard.Query{Mode: leaderboard.ModeTied}
	around := leaderboard.PageQuery{Query: query, Around: fmt.Sprintf("m%d", rand.IntN(1500)), Before: 3, Limit: 7}
	deep := leaderboard.PageQuery{Query: query, Offset: rand.Int64N(1500), Limit: 20}
	members := leaderboard.MembersQuery{Query: query}
	for i := range 20 {
		members.Members = append(members.Members, fmt.Sprintf("m%d", 80*i+rand.IntN(80)))
	}
	score := leaderboard.ScoreQuery{Score: rand.Int64N(150)}
	ask := func(from leaderboard.Rankings, what int) (text string, state leaderboard.State) {
		switch what {
		case 0, 1:
			q := around
			if what == 1 {
				q = deep
			}
			page, err := from.Page(ctx, ref, q)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(page.Entries, page.Next, page.Total), page.State
		case 2:
			s, err := from.Members(ctx, ref, members)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(s.Entries, s.NotRanked, s.Total), s.State
		default:
			s, err := from.ScoreRank(ctx, ref, score)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(s.Strict, s.Tied, s.Total), s.State
		}
	}
	what := rand.IntN(4)
	here, at := ask(a.reader, what)
	there, said := ask(a.store.Entries, what)
	if at.Revision != said.Revision {
		return "", "", at.Seq
	}
	return here, there, at.Seq
}

// TestEvictionUnderLoad: with memory for one of two boards, both are answered right while they are read and written.
func TestEvictionUnderLoad(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "", func(c *Config) { c.ResidentMemory = 400 << 10 })
	first := inMemory(t, a, "first", 1500)
	a.Ask(201, "PUT", "/v1/boards/second", `{"resident":"always"}`)
	a.Ask(200, "POST", "/v1/boards/second/scores", `{"entries":[{"member":"m1","score":5},{"member":"m2","score":4}]}`)
	for round := range 30 {
		a.Ask(200, "POST", "/v1/boards/first/scores", fmt.Sprintf(`{"entries":[{"member":"m7","score":%d}]}`, 1000+round))
		a.Ask(200, "POST", "/v1/boards/second/scores", fmt.Sprintf(`{"entries":[{"member":"m2","score":%d}]}`, 1000+round))
		for _, board := range []string{"first", "second"} {
			apptest.Eventually(t, func() string {
				_, body := a.Get("/v1/boards/" + board + "/top?limit=1")
				if want := fmt.Sprintf(`"score":%d,`, 1000+round); !strings.Contains(string(body), want) {
					return fmt.Sprintf("%s of round %d: %s", board, round, body)
				}
				return ""
			})
		}
		if p := a.resident.Get(&first, 0); round%5 == 0 && p != nil {
			a.resident.Drop(first.ID, p)
		}
	}
	if _, bytes := a.resident.Held(); bytes > 400<<10 {
		t.Errorf("%d bytes are held", bytes)
	}
}

// TestCombinedFromMemory: a combined ranking of boards that are all in memory is answered from memory.
func TestCombinedFromMemory(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "")
	refs := []leaderboard.PeriodRef{inMemory(t, a, "a", 700), inMemory(t, a, "b", 900), inMemory(t, a, "c", 300)}
	for offset := int64(0); offset < 1900; offset += 111 {
		q := leaderboard.CombinedQuery{Mode: leaderboard.ModeTied, Limit: 30, Offset: offset + 1000}
		apptest.Eventually(t, func() string {
			got, err := a.reader.CombinedPage(t.Context(), refs, q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := a.store.Entries.CombinedPage(t.Context(), refs, q)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got.Entries, got.Next) != fmt.Sprint(want.Entries, want.Next) {
				t.Fatalf("offset %d: %+v, want %+v", offset, got, want)
			}
			if got.States[0].Source != leaderboard.SourceLocal {
				return "it came from " + string(got.States[0].Source)
			}
			return ""
		})
	}
}

// TestWarmStart: a server that starts has in memory what the one before it was read for, before it is ready.
func TestWarmStart(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a := startReady(t, dsn, redisURL)
	a.Ask(201, "PUT", "/v1/boards/b", "{}")
	a.Ask(201, "PUT", "/v1/boards/quiet", "{}")
	a.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1},{"member":"n","score":2}]}`)
	apptest.Eventually(t, func() string {
		for range 10 {
			a.Ask(200, "GET", "/v1/boards/b/members/m", "")
		}
		if periods, _ := a.resident.Held(); periods == 0 {
			return "the board is not in memory"
		}
		return ""
	})
	a.stop()
	b := startReady(t, dsn, redisURL)
	if periods, _ := b.resident.Held(); periods != 1 {
		t.Errorf("%d periods are in memory once the server is ready", periods)
	}
	if m := b.Ask(200, "GET", "/v1/boards/b/members/m", ""); m.Text("source") != "local" || m.Text("rank") != "2" {
		t.Errorf("the first answer: %v", m)
	}
}
