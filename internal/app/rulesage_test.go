package app

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
)

// shown is the board as a caller without a key sees it: the mode of its ranks, or that there is no such board.
type shown string

const unseen shown = "not found"

// turned is one state of a board, with the time of the answer to the change that made it, zero before the answer.
type turned struct {
	shown
	done time.Time
}

// turns is a board under test. Its name does not change when it is deleted and made again.
type turns struct {
	name string
	mu   sync.Mutex
	list []turned
}

// change turns the board into another one: with other ranks, private, or gone.
func (b *turns) change(a *testApp) {
	method, rules, next := "PUT", "", unseen
	switch rand.IntN(4) {
	case 0:
		method = "DELETE"
	case 1:
		rules = `{"visibility":"private"}`
	case 2:
		rules, next = `{"mode":"tied"}`, "tied"
	default:
		rules, next = `{"mode":"strict"}`, "strict"
	}
	b.mu.Lock()
	last := len(b.list)
	b.list = append(b.list, turned{shown: next})
	b.mu.Unlock()
	if got := a.answers(method, "/v1/boards/"+b.name, rules); got.status/100 != 2 && got.status != http.StatusNotFound {
		a.T.Errorf("%s %s: %d %s", method, b.name, got.status, got.body)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list[last].done = time.Now()
}

// maxRulesAge is the maximum age of the rules behind an answer that is not marked stale: the age that the feed allows, and the
// second for which a board that cannot be read again is not marked.
const maxRulesAge = time.Second + 200*time.Millisecond

// wrong returns how an answer to a request that was sent at a time is wrong: "" if the board was in this state then, or until at
// most maxRulesAge before.
func (b *turns) wrong(got shown, sent time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, at := range b.list {
		last := i+1 == len(b.list)
		if at.shown == got && (last || b.list[i+1].done.IsZero() || sent.Sub(b.list[i+1].done) <= maxRulesAge) {
			return ""
		}
	}
	return fmt.Sprintf("%s was %s at %v, after %v", b.name, got, sent, b.list[max(0, len(b.list)-4):])
}

// TestRulesAreNewEnough: while one server changes boards, hides them from the public, deletes them and makes them again, no
// reader of another server gets an answer by rules that were changed longer ago than maxRulesAge.
func TestRulesAreNewEnough(t *testing.T) {
	t.Parallel()
	changes, boards := testenv.Size(150, 100_000), testenv.Size(40, 400)
	apart := 3 * time.Second / time.Duration(boards) // so a board changes less often than that
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	writer, reader := startReady(t, dsn, redisURL), startReady(t, dsn, redisURL)
	all := make([]*turns, boards)
	for i := range all {
		all[i] = &turns{name: fmt.Sprint("b", i)}
		writer.Ask(201, "PUT", "/v1/boards/"+all[i].name, `{}`)
		all[i].list = []turned{{"strict", time.Now()}}
	}
	var made, read atomic.Int64
	var writers, readers sync.WaitGroup
	for w := range 2 { // each has separate boards
		writers.Go(func() {
			next := time.NewTicker(2 * apart)
			defer next.Stop()
			for i := w; made.Add(1) <= int64(changes); i += 2 {
				all[i%boards].change(writer)
				<-next.C
			}
		})
	}
	for range 4 {
		readers.Go(func() {
			for made.Load() <= int64(changes) && !t.Failed() {
				b, sent := all[rand.IntN(boards)], time.Now()
				if got, ok := b.seen(reader); ok {
					read.Add(1)
					if wrong := b.wrong(got, sent); wrong != "" {
						t.Error(wrong)
					}
				}
			}
		})
	}
	writers.Wait()
	readers.Wait()
	t.Logf("%d changes, %d answers", changes, read.Load())
	reader.MostlyFresh()
}

// seen reads a board without a key; ok is false when the answer says that it may be old, or that it cannot be given.
func (b *turns) seen(a *testApp) (got shown, ok bool) {
	status, body := a.Get("/v1/boards/" + b.name + "/top?limit=1")
	text := string(body)
	switch {
	case status == http.StatusNotFound:
		return unseen, true
	case status != http.StatusOK || strings.Contains(text, `"stale":true`):
		return got, false
	case strings.Contains(text, `"mode":"tied"`):
		return "tied", true
	}
	return "strict", true
}
