package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"leaderboard"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	server := func(number uint16) error { return fmt.Errorf("exec: %w", &mysql.MySQLError{Number: number}) }
	for name, c := range map[string]struct{ err, want error }{
		"deadlock":        {server(1213), leaderboard.ErrUnavailable},
		"lock wait":       {server(1205), leaderboard.ErrUnavailable},
		"too many":        {server(1040), leaderboard.ErrUnavailable},
		"shutdown":        {server(1053), leaderboard.ErrUnavailable},
		"read-only":       {server(1290), leaderboard.ErrUnavailable},
		"not in step":     {server(1047), leaderboard.ErrUnavailable},
		"not migrated":    {server(1146), leaderboard.ErrUnavailable},
		"password":        {server(1045), leaderboard.ErrUnavailable},
		"time limit":      {server(3024), leaderboard.ErrOverloaded},
		"time limit, too": {server(1969), leaderboard.ErrOverloaded},
		"bad connection":  {driver.ErrBadConn, leaderboard.ErrUnavailable},
		"invalid":         {mysql.ErrInvalidConn, leaderboard.ErrUnavailable},
		"end of file":     {io.ErrUnexpectedEOF, leaderboard.ErrUnavailable},
		"refused":         {&net.OpError{Op: "dial", Err: errors.New("refused")}, leaderboard.ErrUnavailable},
		"own meaning":     {fmt.Errorf("x: %w", leaderboard.ErrNotRanked), leaderboard.ErrNotRanked},
		"rule":            {&leaderboard.RuleError{Code: "c"}, nil},
		"fault":           {server(1064), nil},
	} {
		got := Translate(t.Context(), "test", c.err)
		if !errors.Is(got, c.err) {
			t.Errorf("%s: %v has lost its cause", name, got)
		}
		if c.want != nil && !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.want == nil && isSentinel(got) {
			t.Errorf("%s: %v, want no sentinel", name, got)
		}
	}
	if err := Translate(t.Context(), "test", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Translate(ctx, "test", mysql.ErrInvalidConn); !errors.Is(err, context.Canceled) || isSentinel(err) {
		t.Errorf("the caller went away: %v", err)
	}
}

// TestCommitOutcome: only what is known for certain may be called not committed.
func TestCommitOutcome(t *testing.T) {
	t.Parallel()
	server := func(number uint16) error { return &mysql.MySQLError{Number: number} }
	for name, c := range map[string]struct {
		err     error
		unknown bool
	}{
		"committed":                  {nil, false},
		"nothing was sent":           {driver.ErrBadConn, false},
		"over before":                {sql.ErrTxDone, false},
		"rolled back by deadlock":    {server(1213), false},
		"rolled back by certificate": {server(3101), false},
		"read-only":                  {server(1836), false},
		"not in step":                {server(1047), false},
		"answer lost":                {mysql.ErrInvalidConn, true},
		"timeout":                    {context.DeadlineExceeded, true},
		"killed":                     {server(1317), true},
		"shutdown":                   {server(1053), true},
		"error during commit":        {server(1180), true},
		"the group is out of reach":  {server(3100), true},
		"wait for a lock":            {server(1205), true},
		"whatever":                   {errors.New("?"), true},
	} {
		err := commitOutcome(c.err)
		if c.unknown && Retryable(err) {
			t.Errorf("%s: it is tried again, and may have been done", name)
		}
		if errors.Is(err, leaderboard.ErrOutcomeUnknown) != c.unknown {
			t.Errorf("%s: %v", name, err)
		}
		if (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v became %v", name, c.err, err)
		}
	}
}
