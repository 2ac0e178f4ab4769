package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline compares deadline with a context of package context.
func TestDeadline(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		defer cancel()
		at := time.Now().Add(time.Second)
		d := &deadline{parent: parent, at: at}
		if d.Value(key{}) != "v" || d.timed.Load() != nil {
			t.Error("a value is missing, or asking for it started the timer")
		}
		child, cancelChild := context.WithTimeout(d, time.Hour)
		defer cancelChild()
		if got, ok := child.Deadline(); !ok || !got.Equal(at) || d.Err() != nil || d.Value(key{}) != "v" {
			t.Errorf("the child ends at %s, want %s", got, at)
		}
		<-child.Done()
		if !errors.Is(d.Err(), context.DeadlineExceeded) || time.Since(at) != 0 {
			t.Errorf("ended %s after the deadline with %v", time.Since(at), d.Err())
		}
		d.end()

		d = &deadline{parent: parent, at: time.Now().Add(time.Hour)}
		done := d.Done()
		cancel()
		<-done
		if !errors.Is(d.Err(), context.Canceled) {
			t.Errorf("ended with %v", d.Err())
		}
		(&deadline{parent: parent}).end() // never started
	})
}

// TestDeadlineDerives: deriving a context costs no goroutine.
func TestDeadlineDerives(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &deadline{parent: parent, at: time.Now().Add(time.Hour)}
	defer d.end()
	before := runtime.NumGoroutine()
	for range 100 {
		_, cancel := context.WithTimeout(d, time.Hour)
		defer cancel()
	}
	if after := runtime.NumGoroutine(); after > before+50 {
		t.Errorf("%d goroutines became %d", before, after)
	}
}

// BenchmarkDeadline answers requests over connections of this machine under a deadline that is never reached.
func BenchmarkDeadline(b *testing.B) {
	for name, under := range map[string]func(context.Context, time.Time) func(){
		"own": func(parent context.Context, at time.Time) func() {
			d := &deadline{parent: parent, at: at}
			return d.end
		},
		"context": func(parent context.Context, at time.Time) func() {
			_, cancel := context.WithDeadline(parent, at)
			return cancel
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			benchWire(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer under(r.Context(), time.Now().Add(10*time.Second))()
				_, _ = io.WriteString(w, "answer")
			}), "/")
		})
	}
}
