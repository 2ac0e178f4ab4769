package commit

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store/internal/boards"
)

// TestAheadIsWaitedFor: a batch waits for what is read ahead for it, not for long, and takes nothing from one that failed.
func TestAheadIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, waits time.Duration
		err          error
		used         bool
	}{
		"done":    {used: true},
		"soon":    {takes: maxAhead / 2, waits: maxAhead / 2, used: true},
		"failed":  {takes: maxAhead / 2, waits: maxAhead / 2, err: errors.New("lost")},
		"so long": {takes: time.Minute, waits: maxAhead},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, a := time.Now(), &ahead{done: make(chan struct{})}
				go func() {
					time.Sleep(c.takes)
					a.err = c.err
					close(a.done)
				}()
				synctest.Wait()
				if got := a.await(); (got == a) != c.used || time.Since(start) != c.waits {
					t.Errorf("%v after %s, want use %v after %s", got, time.Since(start), c.used, c.waits)
				}
				<-a.done
			})
		})
	}
	if (*ahead)(nil).await() != nil {
		t.Error("there was none")
	}
}

// TestAheadKeepsOff: nothing is read ahead for few members, nor while all connections for it are in use.
func TestAheadKeepsOff(t *testing.T) {
	t.Parallel()
	all := &aheads{slots: make(chan struct{}, 1)}
	members := make([]string, minAhead)
	for i := range members {
		members[i] = fmt.Sprintf("m%03d", i)
	}
	if all.begin(t.Context(), &boards.Known{}, members[1:]) != nil {
		t.Error("read ahead for few")
	}
	all.slots <- struct{}{}
	if all.begin(t.Context(), &boards.Known{}, members) != nil {
		t.Error("read ahead on a connection that is in use")
	}
}
