package dbtest

import (
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
)

// LostCommit is a COMMIT that ends in the dark.
type LostCommit struct {
	Lossy, Direct *store.Store // through a proxy, and not
	Lose          func()       // the next COMMIT of Lossy
	After         int64        // the member's score in MySQL then, if it had 10 and is given 5
	Heard         []int64      // the last seqs of the commits that Lossy reported
}

// LoseCommits runs a test with each thing that may happen to a COMMIT, on each kind of server. open is Open, or opens features too.
func LoseCommits(t *testing.T, open func(testing.TB, string, func(*store.Config)) *store.Store, test func(t *testing.T, l *LostCommit)) {
	for name, c := range map[string]struct {
		fault Fault
		after int64
	}{
		"applied":            {FaultCutAfter, 15},
		"applied, no answer": {FaultSilence, 15},
		"not applied":        {FaultCutBefore, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Dialects(t, func(t *testing.T, dsn string) {
				p, through := NewProxy(t, dsn)
				l := &LostCommit{After: c.after, Lose: func() { p.On("COMMIT", c.fault, 1) }}
				l.Lossy = open(t, through, func(cfg *store.Config) {
					cfg.LockWait, cfg.ReadTimeout = time.Second, 2*time.Second
					cfg.OnCommit = func(_ leaderboard.PeriodRef, c leaderboard.Commit) { l.Heard = append(l.Heard, c.LastSeq) }
				})
				l.Direct = open(t, dsn, nil)
				test(t, l)
			})
		})
	}
}
