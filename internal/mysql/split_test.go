package mysql

import (
	"database/sql"
	"log/slog"
	"testing"
	"time"
)

// TestConnectionsAreAsManyAsAskedFor: all pools together have as many connections as the setting says, from the least
// that it may say on, and each has some.
func TestConnectionsAreAsManyAsAskedFor(t *testing.T) {
	t.Parallel()
	for n := minConns; n < 200; n++ {
		d, err := Open(Config{
			DSN: "user@tcp(127.0.0.1:1)/none", MaxConns: n, LockWait: time.Second, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, p := range []*sql.DB{d.Pool.DB, d.Writers.DB, d.Waiters.DB, d.Others.DB, d.Looks, d.Long, d.Watch, d.Health, d.Locks.Pool()} {
			conns := p.Stats().MaxOpenConnections
			if conns < 1 {
				t.Errorf("of %d connections a pool has %d", n, conns)
			}
			sum += conns
		}
		if readers := d.Pool.Stats().MaxOpenConnections; sum != n || readers < 2 {
			t.Errorf("%d connections of %d, %d of them for readers", sum, n, readers)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
