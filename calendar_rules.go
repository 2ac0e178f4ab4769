package leaderboard

import (
	"fmt"
	"slices"
	"time"
)

// Calendar says which periods a board's windows have. It is made from the rules once, because a time zone is read from
// a file. It is immutable.
type Calendar struct {
	zone    *time.Location
	seasons []SeasonRule
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
	return Calendar{zone: zone, seasons: r.Seasons}, nil
}

// At is the period of w that the moment t lies in, false when there is none: between seasons.
func (c Calendar) At(w Window, t Micros) (Span, bool) {
	if w != WindowSeason {
		return w.SpanAt(t, c.zone), true
	}
	span, ok := c.Latest(w, t)
	return span, ok && t < span.EndsAt
}

// Latest is the period of w that began last at the moment t, false when there is none: before the first season.
func (c Calendar) Latest(w Window, t Micros) (Span, bool) {
	if w != WindowSeason {
		return w.SpanAt(t, c.zone), true
	}
	for _, s := range slices.Backward(c.seasons) {
		if s.StartsAt <= t {
			return Span(s), true
		}
	}
	return Span{}, false
}

// Named is the period of w with this name. The error says what names look like.
func (c Calendar) Named(w Window, name string) (Span, error) {
	if w != WindowSeason {
		return w.SpanNamed(name, c.zone)
	}
	for _, s := range c.seasons {
		if s.Name == name {
			return Span(s), nil
		}
	}
	return Span{}, fmt.Errorf("the board has no season %q", name)
}

// Before is the period of w ahead of the one that begins at start, false when there is none.
func (c Calendar) Before(w Window, start Micros) (Span, bool) {
	if w == WindowAllTime || start <= MinTime {
		return Span{}, false
	}
	return c.Latest(w, start-1)
}

// Outside says why nothing can be submitted at the moment t to a board that has seasons only, nil during one.
func (c Calendar) Outside(t Micros) error {
	if len(c.seasons) == 0 {
		return nil
	}
	switch last, ok := c.Latest(WindowSeason, t); {
	case !ok:
		return &RuleError{Code: CodeBoardNotStarted, Detail: fmt.Sprintf("the first season starts at %s", c.seasons[0].StartsAt)}
	case t < last.EndsAt:
		return nil
	case last.Name == c.seasons[len(c.seasons)-1].Name:
		return &RuleError{Code: CodeBoardEnded, Detail: fmt.Sprintf("the last season ended at %s", last.EndsAt)}
	default:
		return &RuleError{Code: CodeBetweenSeasons, Detail: fmt.Sprintf("season %s ended at %s", last.Name, last.EndsAt)}
	}
}
