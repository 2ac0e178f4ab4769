package leaderboard

import (
	"fmt"
	"time"
)

// Calendar says which periods a board's windows have. It is made from the rules once, because a time zone is read from
// a file. It is immutable.
type Calendar struct {
	zone *time.Location
}

// Calendar is that of the rules. It fails when the time zone is not known to this system.
func (r *Rules) Calendar() (Calendar, error) {
	zone, err := time.LoadLocation(r.TimeZone)
	if err == nil && r.TimeZone == "Local" {
		err = fmt.Errorf("not a zone of its own")
	}
	if err != nil {
		return Calendar{}, fmt.Errorf("time zone %q: %w", r.TimeZone, err)
	}
	return Calendar{zone: zone}, nil
}

// At is the period of w that the moment t lies in, false when there is none.
func (c Calendar) At(w Window, t Micros) (Span, bool) { return w.SpanAt(t, c.zone), true }

// Named is the period of w with this name. The error says what names look like.
func (c Calendar) Named(w Window, name string) (Span, error) { return w.SpanNamed(name, c.zone) }

// Before is the period of w that ends where the one with the moment t begins, false when there is none.
func (c Calendar) Before(w Window, t Micros) (Span, bool) {
	span, ok := c.At(w, t)
	if !ok || span.StartsAt <= MinTime {
		return Span{}, false
	}
	return c.At(w, span.StartsAt-1)
}
