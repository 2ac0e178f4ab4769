package main

import (
	"slices"
	"testing"
	"time"
)

func TestDelays(t *testing.T) {
	t.Parallel()
	at := func(seq int64, ms int) ack { return ack{seq, time.UnixMilli(int64(ms))} }
	// The event of 3 shows 2 and 3, that of 5 came before the acknowledgement did, and none shows 6.
	got := delays([]ack{at(2, 100), at(3, 150), at(5, 300), at(6, 350)}, []ack{at(1, 50), at(3, 180), at(5, 290)})
	want := []time.Duration{80 * time.Millisecond, 30 * time.Millisecond, 0}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSeqOfEvent(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int64{"id: 7.123\r\n": 123, "id: 7.9223372036854775807\n": 9223372036854775807} {
		if got, ok := seqOfEvent(line); !ok || got != want {
			t.Errorf("%q: %d, %v", line, got, ok)
		}
	}
	for _, line := range []string{"event: page\n", "id: 7\n", "id: 7.x\n", "\n"} {
		if got, ok := seqOfEvent(line); ok {
			t.Errorf("%q: %d", line, got)
		}
	}
}
