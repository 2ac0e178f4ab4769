package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestKill9DuringReview kills two servers in turn while clients submit under idempotency keys, half of them held, and while
// two admins, one at each server, approve and reject the same submissions at once, on MySQL and on MariaDB. Each is decided
// once, and only approved ones are on the board, once (promise A7).
func TestKill9DuringReview(t *testing.T) {
	t.Parallel()
	onBoth(t, killDuringReview)
}

// reviewLoad is submissions of two entries each, with the second one held, and decisions about the held ones.
type reviewLoad struct {
	keyedLoad
	secret   string            // of a key that is reviewed
	receipts [][]client.Result // by request
	ids      []string          // of its held entry
	answers  [][2]string       // the answers to the rejecting and to the approving admin
}

const (
	reviewed          = 600 // requests
	answerDone        = "done"
	answerTheOpposite = "the opposite was decided"
)

// heldOf is the held entry of request i: three are of the same member. One in ten is left waiting.
func heldOf(i int) (sub leaderboard.Submission, decided bool) {
	return scored(fmt.Sprintf("h%03d", i/3), int64(10_000+i)), i%10 != 0
}

func killDuringReview(t *testing.T, w *world) {
	l := &reviewLoad{receipts: make([][]client.Result, reviewed), ids: make([]string, reviewed), answers: make([][2]string, reviewed)}
	s, most := w.serve(t, "server 0"), int64(5000)
	s.putBoard(t, "b", leaderboard.Rules{Policy: leaderboard.PolicySum, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}})
	s.putBoard(t, "derived", leaderboard.Rules{Derive: &leaderboard.Derive{
		From: []leaderboard.DeriveFrom{{Board: "b"}}, Op: leaderboard.DeriveOpUnion, Aggregate: leaderboard.AggregateSum,
	}})
	made, err := s.CreateKey(t.Context(), client.KeyRequest{Name: "game", Scope: leaderboard.ScopeWrite})
	if err != nil {
		t.Fatal(err)
	}
	l.secret = made.Secret
	l.other.Store(w.serve(t, "other server"))
	l.count, l.clients, l.send = reviewed, 32, l.submitAndDecide
	l.run(t, w, s, 60, 160, 260, 360, 460, 540)
	l.check(t, w)
}

// submitAndDecide does the remaining steps of request i, half of the requests at the other server.
func (l *reviewLoad) submitAndDecide(ctx context.Context, s *server, i int, key string) ([]client.Result, error) {
	other := l.other.Load()
	if i%2 == 1 {
		s, other = other, s
	}
	if l.receipts[i] == nil {
		r, err := l.submit(ctx, s, i, key)
		if err != nil {
			return nil, err
		}
		l.receipts[i] = r
	}
	applied := l.receipts[i][:1]
	if _, decided := heldOf(i); !decided {
		return applied, nil
	}
	if l.ids[i] == "" {
		if err := l.find(ctx, s, i); err != nil {
			return nil, err
		}
	}
	var admins sync.WaitGroup
	var errs [2]error
	for approve, s := range []*server{other, s} {
		if l.answers[i][approve] == "" {
			admins.Go(func() { l.answers[i][approve], errs[approve] = decideHeld(ctx, s, l.ids[i], approve == 1) })
		}
	}
	admins.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return applied, nil
}

// submit sends request i; the answer must report its held entry.
func (l *reviewLoad) submit(ctx context.Context, s *server, i int, key string) ([]client.Result, error) {
	c, err := client.New(s.url, client.WithKey(l.secret), client.WithTimeout(maxWait), client.WithMaxWait(0))
	if err != nil {
		return nil, err
	}
	held, _ := heldOf(i)
	r, err := c.Submit(ctx, "b", []leaderboard.Submission{increment(i), held}, client.SubmitOptions{IdempotencyKey: key})
	if err == nil && (len(r.Results) != 2 || r.Results[1].Status != leaderboard.StatusHeld) {
		err = &client.Problem{Status: http.StatusTeapot, Detail: fmt.Sprintf("it is answered with %+v", r.Results)} // ends the load
	}
	return r.Results, err
}

// find searches the id of the held entry of request i.
func (l *reviewLoad) find(ctx context.Context, s *server, i int) error {
	sub, _ := heldOf(i)
	for h, err := range s.Held(ctx, "b", sub.Member, "") {
		if err != nil {
			return err
		}
		if h.Score != nil && *h.Score == sub.Score {
			l.ids[i] = h.ID
			return nil
		}
	}
	return &client.Problem{Status: http.StatusTeapot, Detail: "it was held, and does not wait"}
}

func decideHeld(ctx context.Context, s *server, id string, approve bool) (answer string, err error) {
	var h client.Held
	want := leaderboard.HeldStateRejected
	if approve {
		want = leaderboard.HeldStateApproved
		h, err = s.ApproveHeld(ctx, id, "", false)
	} else {
		h, err = s.RejectHeld(ctx, id, "")
	}
	switch {
	case errors.Is(err, leaderboard.ErrHeldDecided):
		return answerTheOpposite, nil
	case err != nil:
		return "", err
	case h.State != want:
		return fmt.Sprintf("it is %s", h.State), nil
	}
	return answerDone, nil
}

// check compares the boards, in MySQL and by the API, with the answers.
func (l *reviewLoad) check(t *testing.T, w *world) {
	want, states := map[string]int64{}, map[leaderboard.HeldState]int{}
	changes := int64(reviewed)
	for i := range reviewed {
		want[increment(i).Member] += increment(i).Score
		sub, decided := heldOf(i)
		switch a := l.answers[i]; {
		case !decided:
			states[leaderboard.HeldStateWaiting]++
		case a == [2]string{answerTheOpposite, answerDone}:
			states[leaderboard.HeldStateApproved]++
			want[sub.Member] += sub.Score
			changes++
		case a == [2]string{answerDone, answerTheOpposite}:
			states[leaderboard.HeldStateRejected]++
		default:
			t.Errorf("request %d: who rejects was told %q, who approves %q", i, a[0], a[1])
		}
	}
	t.Logf("held: %v", states)
	if got := w.scores(t, "b"); !maps.Equal(got, want) {
		t.Errorf("the scores are %v, the answers make %v", got, want)
	}
	eventually(t, "the derived board has what was approved", func() error {
		if got := w.scores(t, "derived"); !maps.Equal(got, want) {
			return fmt.Errorf("its scores are %v", got)
		}
		return nil
	})
	l.checkRows(t, w, changes, states)
	s := l.server.Load()
	page, err := s.Top(t.Context(), "b", client.TopQuery{Limit: 1000, ReadQuery: client.ReadQuery{MinSeq: changes}})
	if err != nil || page.Total != int64(len(want)) || page.Seq != changes {
		t.Errorf("%d entries at seq %d, want %d at %d: %v", page.Total, page.Seq, len(want), changes, err)
	}
	for _, e := range page.Entries {
		if score, ok := want[e.Member]; !ok || e.Score != score {
			t.Errorf("the top has %s with %d, want %d", e.Member, e.Score, score)
		}
	}
	for i := range reviewed {
		sub, _ := heldOf(i)
		if _, ok := want[sub.Member]; ok {
			continue
		}
		if _, err := s.Member(t.Context(), "b", sub.Member, client.ReadQuery{}); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("of %s nothing was approved: %v", sub.Member, err)
		}
	}
	for i := 0; i < reviewed; i += 7 {
		r, err := l.submit(t.Context(), s, i, fmt.Sprintf("key-%d", i))
		if err != nil || *r[0].Score != *l.receipts[i][0].Score || (r[1].Score == nil) != (l.receipts[i][1].Score == nil) {
			t.Errorf("request %d once more: %+v, %v, was %+v", i, r, err, l.receipts[i])
		}
	}
	l.checkRows(t, w, changes, states)
}

// checkRows compares what MySQL has of changes, held submissions and decisions with the answers.
func (l *reviewLoad) checkRows(t *testing.T, w *world, changes int64, states map[leaderboard.HeldState]int) {
	t.Helper()
	var seq int64
	w.queryRow(t, "SELECT p.last_seq FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = 'b'", &seq)
	if seq != changes {
		t.Errorf("MySQL is at seq %d, the answers make %d changes", seq, changes)
	}
	for state, n := range states {
		var held int
		if w.queryRow(t, fmt.Sprintf("SELECT COUNT(*) FROM held WHERE state = '%s'", state), &held); held != n {
			t.Errorf("%d are %s in MySQL, %d by the answers", held, state, n)
		}
	}
	for action, state := range map[leaderboard.AuditAction]leaderboard.HeldState{
		leaderboard.AuditActionHeldApprove: leaderboard.HeldStateApproved, leaderboard.AuditActionHeldReject: leaderboard.HeldStateRejected,
	} {
		var recorded int
		if w.queryRow(t, fmt.Sprintf("SELECT COUNT(*) FROM audit WHERE action = '%s'", action), &recorded); recorded != states[state] {
			t.Errorf("%d of %s are recorded, %d by the answers", recorded, action, states[state])
		}
	}
}
