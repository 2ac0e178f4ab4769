package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestGate: the gate limits how many questions work at once. A further question is refused after the wait that a read may have; a
// question whose caller leaves is not counted as refused.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		g := newGate(&Config{FallbackConcurrent: 2, ReadWait: time.Second}, func() { refused++ })
		hold := make(chan struct{})
		for range 2 {
			go func() { _ = g(t.Context(), func(context.Context) error { <-hold; return nil }) }()
		}
		synctest.Wait()
		start := time.Now()
		never := func(context.Context) error { t.Error("a third question is at work"); return nil }
		if err := g(t.Context(), never); !errors.Is(err, leaderboard.ErrOverloaded) || time.Since(start) != time.Second || refused != 1 {
			t.Errorf("after %s: %v, refused %d times", time.Since(start), err, refused)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := g(soon, never); !errors.Is(err, context.DeadlineExceeded) || refused != 1 {
			t.Errorf("a caller that has left: %v, refused %d times", err, refused)
		}
		close(hold)
		synctest.Wait()
		lost := errors.New("lost")
		if err := g(t.Context(), func(context.Context) error { return lost }); !errors.Is(err, lost) {
			t.Errorf("with room: %v", err)
		}
	})
}

// TestPublicQuestionsAreGated: questions that any caller may ask and that no copy answers reach MySQL through the gate alone.
func TestPublicQuestionsAreGated(t *testing.T) {
	t.Parallel()
	shut := errors.New("shut")
	var g gate = func(context.Context, func(context.Context) error) error { return shut }
	b := boards{gate: g} // without a store, like the others: a question that goes past the gate panics
	for name, ask := range map[string]func() error{
		"periods": func() error { _, err := b.Periods(t.Context(), 1, leaderboard.WindowDay, 0, 1); return err },
		"labels":  func() error { _, err := b.BoardsLabelled(t.Context(), nil, "", 1); return err },
	} {
		if err := ask(); !errors.Is(err, shut) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
