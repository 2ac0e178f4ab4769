package records

import (
	"slices"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// laps are the shorter periods within the period of a race, the oldest first.
type laps struct {
	window leaderboard.Window
	refs   []leaderboard.PeriodRef
	ends   []leaderboard.Micros
	last   leaderboard.Micros // the end of the period of the race, or its last change before that
	whole  bool               // they reach back to where the period of the race begins
}

// lap puts the scores of the members of a page at the ends of shorter periods into an answer.
func (h *handlers) lap(c *httpapi.Call, board *leaderboard.Board, ref *leaderboard.PeriodRef, page *leaderboard.Page, out *api.Race) error {
	l, err := h.lapsOf(c, board, ref, page.AsOf)
	if err != nil {
		return err
	}
	at := l.shown()
	if len(at) == 0 {
		return nil
	}
	found := Race{Scores: make([][]*int64, len(page.Entries))}
	for _, lap := range at {
		found.Moments = append(found.Moments, l.ends[lap])
	}
	found.Moments = append(found.Moments, l.last)
	refs := append(l.refs, *ref) // in the same question, so that its answer fits the answers about laps
	for i := range page.Entries {
		past, err := h.rankings.Past(c.Ctx, refs, page.Entries[i].Member)
		if err != nil {
			return err
		}
		now := &page.Entries[i].Entry
		if its := past[len(l.refs)].Ranked; its != nil {
			now = &its.Entry
		}
		scores := l.scores(&board.Rules, now, past[:len(l.refs)])
		for _, lap := range at {
			found.Scores[i] = append(found.Scores[i], scores[lap])
		}
		found.Scores[i] = append(found.Scores[i], nil) // as on the page
	}
	out.Laps = l.window
	answer(page, ref.Rules.Order, &found, out)
	return nil
}

// lapsOf finds the laps of a race, until a moment: the shortest that reach back to where its period begins, or else the
// shortest. A derived board has no laps: its entries do not follow from its other periods.
func (h *handlers) lapsOf(c *httpapi.Call, board *leaderboard.Board, ref *leaderboard.PeriodRef, until leaderboard.Micros) (laps, error) {
	span, ok := spanOf(board, ref)
	if board.Rules.Derive != nil || !ok {
		return laps{}, nil
	}
	isOver := ref.Closed || span.EndsAt <= until
	if isOver {
		until = span.EndsAt
	}
	var first laps
	for _, window := range lapWindows(ref.Window) {
		if !slices.Contains(board.Rules.Windows, window) {
			continue
		}
		found, err := h.Catalog.PeriodsBefore(c.Ctx, board.Name, window, until, leaderboard.MaxLaps+1)
		if err != nil {
			return laps{}, err
		}
		if isOver && len(found) > 0 && found[0].EndsAt > span.EndsAt {
			continue // a part of it is not in the race
		}
		l := laps{window: window, last: until, whole: true}
		for i := range slices.Backward(found) {
			switch p := &found[i]; {
			case p.EndsAt <= span.StartsAt, p.State == leaderboard.PeriodStateClosed && p.EntryCount == 0: // nothing of the race
			case i == leaderboard.MaxLaps, p.StartsAt < span.StartsAt:
				l.whole = false
			default:
				l.refs, l.ends = append(l.refs, p.Ref(board)), append(l.ends, p.EndsAt)
			}
		}
		if l.whole && l.refs != nil {
			return l, nil
		}
		if first.refs == nil {
			first = l
		}
	}
	return first, nil
}

// lapWindows returns the windows with shorter periods than a window has, the best for laps first.
func lapWindows(window leaderboard.Window) []leaderboard.Window {
	all := []leaderboard.Window{
		leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek, leaderboard.WindowMonth, leaderboard.WindowQuarter, leaderboard.WindowYear,
	}
	if i := slices.Index(all, window); i >= 0 {
		all = all[:i]
	}
	if len(all) == 0 {
		return nil
	}
	return append(all[1:len(all):len(all)], leaderboard.WindowHour)
}

// spanOf returns when a period begins and ends, false when that is not known.
func spanOf(board *leaderboard.Board, ref *leaderboard.PeriodRef) (leaderboard.Span, bool) {
	if ref.Window == leaderboard.WindowAllTime {
		return leaderboard.Span{StartsAt: leaderboard.MinTime, EndsAt: leaderboard.Forever}, true
	}
	cal, err := board.Rules.Calendar()
	if err != nil {
		return leaderboard.Span{}, false
	}
	span, err := cal.Named(ref.Window, ref.Name)
	return span, err == nil
}

// shown returns the laps that an answer shows: some of the ended laps, with equal distances, the last among them.
func (l *laps) shown() (at []int) {
	over := 0
	for over < len(l.ends) && l.ends[over] < l.last {
		over++
	}
	n := min(over, leaderboard.RaceMoments-1)
	for i := range n {
		at = append(at, (i+1)*over/n-1)
	}
	return at
}

// scores returns the score that a member had at the end of each lap; nil: no entry, or no known one. now is its entry in the
// period of the race, past are its entries in the laps.
//
// The scores follow from the policy. When the laps together lead to now, each has the result of the laps up to it. Otherwise
// something happened before the laps or was corrected, and this is known: of latest, the last lap with a score; of a sum, the
// score of now less the later laps; of best, the score of now from its created_time on.
func (l *laps) scores(r *leaderboard.Rules, now *leaderboard.Entry, past []leaderboard.PastEntry) []*int64 {
	out := make([]*int64, len(past))
	var so *int64
	for i := range past {
		if p := past[i].Ranked; p != nil {
			so = new(joined(r, so, p.Score))
		}
		out[i] = so
	}
	if l.whole && so != nil && *so == now.Score || r.Policy == leaderboard.PolicyLatest {
		return out
	}
	later := int64(0)
	for i := range slices.Backward(past) {
		switch before := now.Score - later; {
		case r.Policy == leaderboard.PolicySum && (before != 0 || out[i] != nil):
			out[i] = &before
		case r.Policy == leaderboard.PolicyBest && now.CreatedTime <= l.ends[i]:
			out[i] = &now.Score
		default:
			out[i] = nil
		}
		if p := past[i].Ranked; p != nil {
			later += p.Score
		}
	}
	return out
}

// joined returns the score that a policy makes of a score so far, nil for none, and the score of the next lap.
func joined(r *leaderboard.Rules, so *int64, next int64) int64 {
	switch {
	case so == nil || r.Policy == leaderboard.PolicyLatest:
		return next
	case r.Policy == leaderboard.PolicySum:
		return *so + next
	case r.Order == leaderboard.OrderAsc:
		return min(*so, next)
	default:
		return max(*so, next)
	}
}
