package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	steadyCommits = 50 // a second, while the board changes
	// writerConns take turns, so that a slow one delays none. The service commits the waiting submits at once.
	writerConns = 16
	// writerLate is the greatest delay with which a submit is still sent: submits that could not be sent during one side
	// must not be added to the other.
	writerLate = 100 * time.Millisecond
)

// writer submits to the board at a steady rate.
type writer struct {
	start time.Time
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	acks []ack
	errs []error
}

// ack is a submit that was acknowledged.
type ack struct {
	seq int64
	at  time.Time
}

// write starts to change the board: a random entry in each of steadyCommits submits a second.
func (s *service) write(ctx context.Context, members int) *writer {
	ctx, cancel := context.WithCancel(ctx)
	written := &writer{start: time.Now(), stop: cancel}
	var next atomic.Int64
	for range writerConns {
		written.wg.Go(func() {
			if err := written.connection(ctx, s.addr, members, &next); err != nil {
				written.mu.Lock()
				defer written.mu.Unlock()
				written.errs = append(written.errs, fmt.Errorf("submit between reads: %w", err))
			}
		})
	}
	return written
}

// connection submits whenever the next submit of all is due.
func (w *writer) connection(ctx context.Context, addr string, members int, next *atomic.Int64) error {
	conn, err := dial(addr, time.Hour)
	if err != nil {
		return err
	}
	defer conn.close()
	var buf []byte
	for {
		due := w.start.Add(time.Duration(next.Add(1)) * time.Second / steadyCommits)
		if wait(ctx, time.Until(due)) != nil {
			return nil
		}
		if time.Since(due) > writerLate {
			continue
		}
		buf = appendSubmit(buf[:0], benchBoard, members, 1)
		body, err := conn.send(buf)
		if err != nil {
			return err
		}
		at := time.Now()
		var answer struct {
			Seq int64 `json:"seq"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		w.mu.Lock()
		w.acks = append(w.acks, ack{answer.Seq, at})
		w.mu.Unlock()
	}
}

// finish ends the writing and returns what went wrong.
func (w *writer) finish() error {
	w.stop()
	w.wg.Wait()
	return errors.Join(w.errs...)
}
