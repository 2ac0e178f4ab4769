package index

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"leaderboard/leaderboard"
)

// TestReason: every caller that may see runs sees why one failed, so the reason is never what the driver
// or the server says.
func TestReason(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), errors.New("Error 1064 near 'secret'"), "failed, see the log"},
		{t.Context(), fmt.Errorf("dial secret: %w", leaderboard.ErrUnavailable), "MySQL does not answer"},
		{t.Context(), fmt.Errorf("secret: %w", leaderboard.ErrOverloaded), "it took too long"},
		{t.Context(), leaderboard.ErrPeriodNotFound, "the period no longer exists"},
		{ended, errors.New("secret"), "the server was stopped"},
	} {
		if got := reasonOf(c.ctx, c.err); got != c.want {
			t.Errorf("%v is recorded as %q, want %q", c.err, got, c.want)
		}
	}
}
