package derived

import (
	"context"

	"leaderboard/internal/mysql"
)

// leads is how many locks there are by which processes share the following of derived boards. A lock only saves work: the
// check in its transaction makes a step correct. Each is for some of the boards, so that one statement asks for the lead of all.
const leads = 16

// allLeads are the locks: a board's lock has its id modulo leads.
func allLeads() []mysql.Lock {
	locks := make([]mysql.Lock, leads)
	for i := range locks {
		locks[i] = mysql.Lock{Kind: "derive", ID: int64(i)}
	}
	return locks
}

// lead returns which of the boards this process leads, and takes the lead of boards that no process leads. The
// leader of a board takes its steps. It does not wait for another process. The caller must call again from time to time:
// the server releases locks with the connection. Errors: ErrUnavailable.
func (f *Stepper) lead(ctx context.Context, boardIDs []int64) ([]bool, error) {
	have, err := f.db.Locks.Hold(ctx, allLeads())
	if err != nil {
		return nil, mysql.Translate(ctx, "lead", err)
	}
	led := make([]bool, len(boardIDs))
	for i, id := range boardIDs {
		led[i] = have[id%leads]
	}
	return led, nil
}

// yield releases the lead of all boards to other processes.
func (f *Stepper) yield(ctx context.Context) error {
	return mysql.Translate(ctx, "yield", f.db.Locks.Release(ctx, allLeads()...))
}
