package httpapi

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// fake is everything behind the API in memory: boards with one period each, and runs. It follows the rules of package
// leaderboard and nothing else; fail replaces the answer of a method by an error.
type fake struct {
	mu     sync.Mutex
	boards []*fakeBoard // by name
	keys   map[string]leaderboard.Receipt
	runs   []leaderboard.Run
	clock  leaderboard.Micros
	writes int // how often anything was changed

	fail     map[string]error // by method
	source   leaderboard.Source
	stale    bool
	verified leaderboard.Verification
	health   map[string]error
	runGate  chan struct{} // a rebuild ends when it is closed; nil: at once
	panics   bool
}

type fakeBoard struct {
	leaderboard.Board
	period  leaderboard.Period
	entries []leaderboard.Entry // in the order of the board
}

func newFake() *fake {
	return &fake{
		keys: map[string]leaderboard.Receipt{}, fail: map[string]error{}, clock: 1_700_000_000_000_000,
		source: leaderboard.SourceLocal, verified: leaderboard.Verification{Equal: true, Seq: 3, Checked: 2},
	}
}

func (f *fake) find(name string) (*fakeBoard, error) {
	for _, b := range f.boards {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, leaderboard.ErrBoardNotFound
}

func (f *fake) begin(method string) (*fake, error) {
	f.mu.Lock()
	if f.panics {
		defer f.mu.Unlock()
		panic("secret of the inside")
	}
	return f, f.fail[method]
}

func (f *fake) PutBoard(_ context.Context, name string, rules leaderboard.Rules) (leaderboard.Board, bool, error) {
	_, err := f.begin("PutBoard")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.Board{}, false, err
	}
	f.clock += 1000
	if b, err := f.find(name); err == nil {
		if b.Rules.Reorders(&rules) && len(b.entries) > 0 {
			return leaderboard.Board{}, false, leaderboard.ErrBoardConflict
		}
		f.writes++
		b.Rules, b.UpdatedTime = rules, f.clock
		return b.Board, false, nil
	}
	f.writes++
	id := int64(len(f.boards) + 1)
	b := &fakeBoard{Board: leaderboard.Board{ID: id, Name: name, Version: 1, Rules: rules, CreatedTime: f.clock, UpdatedTime: f.clock}}
	b.period = leaderboard.Period{
		ID: 100 + id, BoardID: id, Window: leaderboard.AllTime, EndsAt: leaderboard.Forever,
		State: leaderboard.PeriodOpen, Committed: f.clock,
	}
	f.boards = append(f.boards, b)
	slices.SortFunc(f.boards, func(a, b *fakeBoard) int { return strings.Compare(a.Name, b.Name) })
	return b.Board, true, nil
}

func (f *fake) Board(_ context.Context, name string) (leaderboard.Board, error) {
	_, err := f.begin("Board")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.Board{}, err
	}
	b, err := f.find(name)
	if err != nil {
		return leaderboard.Board{}, err
	}
	return b.Board, nil
}

func (f *fake) Boards(_ context.Context, after string, limit int) ([]leaderboard.Board, error) {
	_, err := f.begin("Boards")
	defer f.mu.Unlock()
	var out []leaderboard.Board
	for _, b := range f.boards {
		if b.Name > after && len(out) < limit {
			out = append(out, b.Board)
		}
	}
	return out, err
}

func (f *fake) DeleteBoard(_ context.Context, name string) error {
	_, err := f.begin("DeleteBoard")
	defer f.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := f.find(name); err != nil {
		return err
	}
	f.writes++
	f.boards = slices.DeleteFunc(f.boards, func(b *fakeBoard) bool { return b.Name == name })
	return nil
}

func (f *fake) Resolve(_ context.Context, board, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	_, err := f.begin("Resolve")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	b, err := f.find(board)
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	if (window != "" && window != "all_time") || !slices.Contains([]string{"", "current", "all_time"}, period) {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, leaderboard.ErrPeriodNotFound
	}
	rules := b.Rules
	return leaderboard.PeriodRef{
		ID: b.period.ID, BoardID: b.ID, Board: b.Name, Window: leaderboard.AllTime, Name: "all_time", Rules: &rules,
	}, b.Board, nil
}

func (f *fake) Periods(_ context.Context, boardID int64, _ leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error) {
	_, err := f.begin("Periods")
	defer f.mu.Unlock()
	var out []leaderboard.Period
	for _, b := range f.boards {
		if b.ID == boardID && (before == 0 || b.period.ID < before) && limit > 0 {
			out = append(out, b.period)
		}
	}
	return out, err
}

func (f *fake) Submit(_ context.Context, board, key string, entries []leaderboard.Submission) (leaderboard.Receipt, error) {
	_, err := f.begin("Submit")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.Receipt{}, err
	}
	b, err := f.find(board)
	if err != nil {
		return leaderboard.Receipt{}, err
	}
	if r, ok := f.keys[key]; ok && key != "" {
		if len(r.Results) != len(entries) {
			return leaderboard.Receipt{}, leaderboard.ErrKeyReused
		}
		return r, nil
	}
	f.writes++
	var out leaderboard.Receipt
	for _, sub := range entries {
		out.Results = append(out.Results, f.apply(b, sub))
	}
	out.Seq = b.period.LastSeq
	f.keys[key] = out
	return out, nil
}

func (f *fake) apply(b *fakeBoard, sub leaderboard.Submission) leaderboard.Result {
	f.clock++
	var cur *leaderboard.Entry
	at := slices.IndexFunc(b.entries, func(e leaderboard.Entry) bool { return e.Member == sub.Member })
	out := leaderboard.Result{Member: sub.Member, Status: leaderboard.Unchanged}
	if at >= 0 {
		e := b.entries[at]
		cur, out.Previous = &e, &e.Score
	}
	next, changed, broken := b.Rules.Apply(cur, sub, f.clock, f.clock)
	switch {
	case broken != nil:
		out.Status, out.Rule = leaderboard.Rejected, broken
		if cur != nil {
			out.Score, out.CreatedTime = &cur.Score, &cur.CreatedTime
		}
		return out
	case changed:
		out.Status = leaderboard.Applied
		if at >= 0 {
			b.entries = slices.Delete(b.entries, at, at+1)
		}
		b.entries = append(b.entries, next)
		slices.SortFunc(b.entries, b.Rules.Compare)
		b.changed(f.clock)
	}
	out.Score, out.CreatedTime = &next.Score, &next.CreatedTime
	return out
}

func (b *fakeBoard) changed(now leaderboard.Micros) {
	b.period.LastSeq++
	b.period.EntryCount = int64(len(b.entries))
	b.period.Committed = now
}

func (f *fake) Remove(_ context.Context, board string, periodID int64, member string) (leaderboard.Receipt, error) {
	_, err := f.begin("Remove")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.Receipt{}, err
	}
	b, err := f.find(board)
	if err != nil {
		return leaderboard.Receipt{}, err
	}
	at := slices.IndexFunc(b.entries, func(e leaderboard.Entry) bool { return e.Member == member })
	if at < 0 || (periodID != 0 && periodID != b.period.ID) {
		return leaderboard.Receipt{}, leaderboard.ErrNotRanked
	}
	f.writes++
	f.clock++
	b.entries = slices.Delete(b.entries, at, at+1)
	b.changed(f.clock)
	return leaderboard.Receipt{Seq: b.period.LastSeq}, nil
}

func (f *fake) Start(_ context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
	actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	_, err := f.begin("Start")
	defer f.mu.Unlock()
	if err != nil {
		return leaderboard.Run{}, nil, err
	}
	f.writes++
	run := leaderboard.Run{
		ID: int64(len(f.runs) + 1), BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name,
		Kind: kind, Reason: reason, Actor: actor, State: leaderboard.RunRunning, StartedAt: f.clock,
	}
	f.runs = append(f.runs, run)
	gate := f.runGate
	return run, func(ctx context.Context) (leaderboard.Run, error) {
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return run, ctx.Err()
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		done := &f.runs[run.ID-1]
		done.State, done.Took, done.Rows = leaderboard.RunDone, 12500*time.Microsecond, 2
		return *done, nil
	}, nil
}

func (f *fake) Run(_ context.Context, id int64) (leaderboard.Run, error) {
	_, err := f.begin("Run")
	defer f.mu.Unlock()
	if err == nil && id > int64(len(f.runs)) {
		err = leaderboard.ErrRunNotFound
	}
	if err != nil {
		return leaderboard.Run{}, err
	}
	return f.runs[id-1], nil
}

func (f *fake) Runs(_ context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error) {
	_, err := f.begin("Runs")
	defer f.mu.Unlock()
	var out []leaderboard.Run
	for i := len(f.runs) - 1; i >= 0; i-- {
		r := f.runs[i]
		if (boardID == 0 || r.BoardID == boardID) && (before == 0 || r.ID < before) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, err
}

func (f *fake) verify(context.Context, leaderboard.PeriodRef) (leaderboard.Verification, error) {
	_, err := f.begin("Verify")
	defer f.mu.Unlock()
	return f.verified, err
}

// codec is the order of a board's sort keys.
func (b *fakeBoard) codec() rank.Codec { return rank.CodecOf(&b.Rules) }
