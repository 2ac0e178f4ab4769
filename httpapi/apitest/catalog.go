package apitest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leaderboard/leaderboard"
)

// Board knows a board as Resolve does.
func (f *Fake) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	if ref, ok := f.Outdated[name]; ok {
		if ref.BoardID == 0 {
			return leaderboard.Board{}, leaderboard.ErrBoardNotFound
		}
		return leaderboard.Board{ID: ref.BoardID, Name: name, Rules: *ref.Rules}, nil
	}
	return f.Model.Board(ctx, name)
}

func (f *Fake) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	if err := f.Enter("Boards"); err != nil {
		return nil, err
	}
	return f.Model.BoardsLabelled(ctx, labels, after, limit)
}

func (f *Fake) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	if err := f.Enter("Resolve"); err != nil {
		return leaderboard.PeriodRef{}, nil, err
	}
	if ref, ok := f.Outdated[board]; ok {
		if ref.BoardID == 0 {
			return leaderboard.PeriodRef{}, nil, leaderboard.ErrBoardNotFound
		}
		if window != "" && leaderboard.Window(window) != ref.Window {
			return leaderboard.PeriodRef{}, nil, leaderboard.ErrPeriodNotFound
		}
		return ref, &leaderboard.Board{ID: ref.BoardID, Name: board, Rules: *ref.Rules}, nil
	}
	l, err := f.Current(ctx, board)
	if err != nil {
		return leaderboard.PeriodRef{}, nil, err
	}
	w := leaderboard.Window(window)
	if w == "" {
		w = l.Board.Rules.Windows[0]
	}
	p, err := f.period(ctx, l, w, period)
	ref := leaderboard.PeriodRef{
		ID: p.ID, Incarnation: p.Incarnation, BoardID: l.Board.ID, Board: l.Board.Name, Window: p.Window, Name: p.Name(), Rules: &l.Board.Rules, Stale: f.Unseen,
	}
	if p.State == leaderboard.PeriodStateClosed {
		ref.Closed, ref.LastSeq = true, p.LastSeq
	}
	if !ref.HasRow() {
		ref.AsOf = p.Committed
	}
	return ref, &l.Board, err
}

func (f *Fake) PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	b, err := f.Board(ctx, board)
	if err != nil {
		return nil, err
	}
	return f.Model.PeriodsBefore(ctx, b.ID, w, before, limit)
}

func (f *Fake) Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error) {
	boards, err := f.BoardsLabelled(ctx, labels, "", 1000)
	var names []string
	for _, b := range boards {
		names = append(names, b.Name)
	}
	return names, err
}

func (f *Fake) Renew(_ context.Context, board string) error {
	f.Renewed++
	delete(f.Outdated, board)
	return f.Enter("Renew")
}

// period finds a period as cache.Catalog does, without a cache.
func (f *Fake) period(ctx context.Context, l leaderboard.Listing, w leaderboard.Window, name string) (leaderboard.Period, error) {
	cal, err := l.Board.Rules.Calendar()
	if err != nil {
		return leaderboard.Period{}, err
	}
	current, past, err := l.Find(cal, l.Clock, w, name)
	if err != nil || current != nil {
		return *cmp.Or(current, &leaderboard.Period{}), err
	}
	return leaderboard.FindPast(ctx, f, &l.Board, w, past, l.Clock)
}

// BoardHealth returns the health that the model has.
func (f *Fake) BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth {
	out := make([]leaderboard.BoardHealth, len(boards))
	for i, b := range boards {
		out[i] = leaderboard.BoardHealth{Board: b, Stale: away}
		if l, err := f.Current(ctx, b.Name); err == nil && len(l.Periods) > 0 {
			out[i].Period = l.Periods[0]
			out[i].Copy = &leaderboard.CopyHealth{Seq: l.Periods[0].LastSeq, Entries: 1}
		}
		if b.Rules.Derive != nil {
			lag := 1500 * time.Microsecond
			out[i].Lag = &lag
		}
	}
	return out
}

// Known returns boards of the model.
func (f *Fake) Known(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Board {
	boards, _ := f.Model.BoardsLabelled(context.Background(), nil, after, 1000)
	boards = slices.DeleteFunc(boards, func(b leaderboard.Board) bool { return !want(&b) })
	return boards[:min(limit, len(boards))]
}
