package httpapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// fake is everything behind the API: the model of the store, with a catalog and rebuilds that the store leaves to
// others. Any method can be made to fail.
type fake struct {
	*storetest.Model
	keys      *fakeKeys
	endpoints *fakeEndpoints
	issuers   *fakeIssuers
	players   *fakePlayers
	audit     *auditLog

	mu       sync.Mutex
	called   map[string]int     // how often each method was
	caller   leaderboard.Caller // of the last deletion of a board
	fail     map[string]error   // by method
	panics   bool               // every method does
	panicsIn string             // the method that does, "" for none

	source   leaderboard.Source
	stale    bool
	unseen   bool  // the boards could not be looked up of late
	behind   int64 // how many changes the last board of an answer about several lacks
	verified leaderboard.Verification
	health   Health
	runGate  chan struct{} // a rebuild ends when it is closed; nil: at once

	admit     func(board string, bytes int64) error // nil: everything is admitted
	outlasted bool                                  // an answer that something slow came before is not fresh any more
	changed   func(ctx context.Context) error       // nil: nothing ever is
	exportAll exporting                             // nil: of the model

	exportGate chan struct{} // an export goes on after each part when it receives; nil: at once

	outdated map[string]leaderboard.PeriodRef // what Resolve says of a board until it is renewed
	renewed  int
	slow     bool                           // an erasure is not done within a request
	moving   func()                         // between an answer and the metadata of its entries, once
	records  []leaderboard.SubmissionRecord // newest first

	activity      leaderboard.Activity
	activityAsked leaderboard.ActivityQuery
	race          leaderboard.Race
	raceAsked     leaderboard.RaceQuery
}

func newFake() *fake {
	m := storetest.NewModel()
	m.SetNow(1_700_000_000_000_000)
	f := &fake{
		Model:     m,
		keys:      &fakeKeys{table: newTable[leaderboard.HashedKey](leaderboard.ErrKeyNotFound)},
		endpoints: &fakeEndpoints{table: newTable[leaderboard.Endpoint](leaderboard.ErrEndpointNotFound)},
		issuers:   &fakeIssuers{newTable[leaderboard.Issuer](leaderboard.ErrIssuerNotFound), newTable[leaderboard.MemberBar](leaderboard.ErrBarNotFound), nil},
		players:   &fakePlayers{tokens: map[string]*leaderboard.Player{}, refused: map[string]error{}}, audit: &auditLog{},
		called: map[string]int{}, fail: map[string]error{}, source: leaderboard.SourceLocal, health: Health{Ready: true},
		verified: leaderboard.Verification{Equal: true, Seq: 3, Checked: 2, Total: 5},
	}
	m.OnCall, m.OnState = f.enter, f.mark
	return f
}

// mark has an answer about one period say where it is from, and whether it is stale.
func (f *fake) mark(s *leaderboard.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Source, s.Stale = f.source, f.stale
}

// enter begins a method.
func (f *fake) enter(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called[method]++
	if f.panics || method == f.panicsIn {
		panic("secret of the inside")
	}
	return f.fail[method]
}

// calls returns how often a method was called.
func (f *fake) calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.called[method]
}

// writes returns how often anything was to be changed.
func (f *fake) writes() (n int) {
	for _, method := range []string{
		"ChangeBoard", "DeleteBoard", "Submit", "SubmitMultiBoard", "Remove", "Hide", "Restore", "DecideHeld", "PutProfile", "PatchProfile", "ResetName",
		"PutFriends", "AddFriends", "RemoveFriend", "Forget", "BeginPlay", "Start",
	} {
		n += f.calls(method)
	}
	return n
}

// Board knows a board as Resolve does.
func (f *fake) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	if ref, ok := f.outdated[name]; ok {
		return leaderboard.Board{ID: ref.BoardID, Name: name, Rules: *ref.Rules}, nil
	}
	return f.Model.Board(ctx, name)
}

func (f *fake) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	if err := f.enter("Boards"); err != nil {
		return nil, err
	}
	return f.Model.BoardsLabelled(ctx, labels, after, limit)
}

func (f *fake) DeleteBoard(ctx context.Context, name string) error {
	f.caller = leaderboard.CallerOf(ctx)
	return f.Model.DeleteBoard(ctx, name)
}

func (f *fake) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	if err := f.enter("Resolve"); err != nil {
		return leaderboard.PeriodRef{}, nil, err
	}
	if ref, ok := f.outdated[board]; ok {
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
		ID: p.ID, Incarnation: p.Incarnation, BoardID: l.Board.ID, Board: l.Board.Name, Window: p.Window, Name: p.Name(), Rules: &l.Board.Rules, Stale: f.unseen,
	}
	if p.State == leaderboard.PeriodStateClosed {
		ref.Closed, ref.LastSeq = true, p.LastSeq
	}
	if !ref.HasRow() {
		ref.AsOf = p.Committed
	}
	return ref, &l.Board, err
}

func (f *fake) PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	b, err := f.Board(ctx, board)
	if err != nil {
		return nil, err
	}
	return f.Model.PeriodsBefore(ctx, b.ID, w, before, limit)
}

func (f *fake) Submissions(_ context.Context, q leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error) {
	if err := f.enter("Submissions"); err != nil {
		return nil, err
	}
	var out []leaderboard.SubmissionRecord
	for _, r := range f.records {
		if r.Member == q.Member && (q.Before == 0 || r.At < q.Before || r.At == q.Before && r.ID < q.BeforeID) && len(out) < q.Limit {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fake) Activity(_ context.Context, q leaderboard.ActivityQuery) (leaderboard.Activity, error) {
	f.activityAsked = q
	return f.activity, f.enter("Activity")
}

func (f *fake) Race(_ context.Context, q leaderboard.RaceQuery) (leaderboard.Race, error) {
	f.raceAsked = q
	return f.race, f.enter("Race")
}

func (f *fake) Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error) {
	boards, err := f.BoardsLabelled(ctx, labels, "", 1000)
	var names []string
	for _, b := range boards {
		names = append(names, b.Name)
	}
	return names, err
}

func (f *fake) CombinedPage(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	out, err := f.Model.CombinedPage(ctx, p, q)
	if err == nil {
		last := &out.States[len(out.States)-1]
		if last.Source, last.Stale = f.source, f.stale; !q.Fresh {
			last.Seq -= f.behind
		}
	}
	return out, err
}

func (f *fake) CombinedMember(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	out, err := f.Model.CombinedMember(ctx, p, q)
	if err == nil && !q.Fresh && f.behind > 0 {
		out.States[len(out.States)-1].Seq -= f.behind
		out.Entries = nil // not there yet
	}
	return out, err
}

func (f *fake) Renew(_ context.Context, board string) error {
	f.renewed++
	delete(f.outdated, board)
	return f.enter("Renew")
}

// period finds a period as cache.Catalog does, without a cache.
func (f *fake) period(ctx context.Context, l leaderboard.Listing, w leaderboard.Window, name string) (leaderboard.Period, error) {
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

func (f *fake) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	found, err := f.Profiles(ctx, members)
	if err == nil {
		err = f.enter("ProfilesOf") // with the cached ones
	}
	out := make([]*leaderboard.Profile, len(members))
	for i, member := range members { // one may be there several times, with entries on several boards
		if at := slices.IndexFunc(found, func(p leaderboard.Profile) bool { return p.Member == member }); at >= 0 {
			out[i] = &found[at]
		}
	}
	return out, err
}

// MemberData tells of records and of the audit besides.
func (f *fake) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	if err := f.Model.MemberData(ctx, member, tell); err != nil {
		return err
	}
	for _, r := range f.records {
		if r.Member == member {
			if err := tell(leaderboard.MemberRecord{Submission: &leaderboard.MemberSubmission{SubmissionRecord: r, Board: "demo"}}); err != nil {
				return err
			}
		}
	}
	found, _, err := f.audit.Audit(ctx, leaderboard.AuditQuery{Member: member, Limit: 1000})
	for i := range found {
		if err == nil {
			err = tell(leaderboard.MemberRecord{Audit: &found[i]})
		}
	}
	return err
}

// Forget is done at once unless it is to look as if it took longer.
func (f *fake) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	out, err := f.Model.Forget(ctx, member, actor)
	out.Done = out.Done && !f.slow
	return out, err
}

func (f *fake) FriendsOf(ctx context.Context, members []string) ([][]string, error) {
	lists, err := f.Model.FriendsOf(ctx, members)
	if err == nil {
		err = f.enter("KeptFriends")
	}
	out := make([][]string, len(members))
	for i, m := range members {
		out[i] = lists[m]
	}
	return out, err
}

func (f *fake) Admit(board string, bytes int64) error {
	if f.admit == nil {
		return nil
	}
	return f.admit(board, bytes)
}

func (f *fake) Fresh(int64, leaderboard.Revision) bool { return !f.outlasted }

func (f *fake) Changed(ctx context.Context, _ int64, _ leaderboard.Revision) error {
	if f.changed == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.changed(ctx)
}

func (f *fake) Start(ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
	actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	if err := f.enter("Start"); err != nil {
		return leaderboard.Run{}, nil, err
	}
	run, err := f.StartRun(ctx, leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name,
		Kind: kind, Reason: reason, Actor: actor, State: leaderboard.RunStateRunning,
	})
	gate := f.runGate
	return run, func(ctx context.Context) (leaderboard.Run, error) {
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return run, ctx.Err()
			}
		}
		done := run
		done.State, done.Took, done.Rows = leaderboard.RunStateDone, 12500*time.Microsecond, 2
		if err := f.enter("Refresh"); err != nil {
			done.State, done.Error = leaderboard.RunStateFailed, err.Error()
			_, finished := f.FinishRun(ctx, done)
			return done, errors.Join(err, finished)
		}
		return f.FinishRun(ctx, done)
	}, err
}

type exporting func(ctx context.Context, ref leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error

// Metadata is the model's, after what happens meanwhile.
func (f *fake) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	if between := f.moving; between != nil {
		f.moving = nil
		between()
	}
	return f.Model.Metadata(ctx, of)
}

// Export gives the entries in parts of partSize, and fails after the first part when it is told to.
func (f *fake) Export(
	ctx context.Context, ref leaderboard.PeriodRef, metadata bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error,
) error {
	if err := f.enter("Export"); err != nil {
		return err
	}
	if f.exportAll != nil {
		return f.exportAll(ctx, ref, begin, func(part []leaderboard.Entry) error { return entries(part, nil) })
	}
	const partSize = 3
	page, err := f.Model.Page(ctx, ref, leaderboard.PageQuery{Limit: leaderboard.MaxLimit, Query: leaderboard.Query{Mode: leaderboard.ModeStrict, Metadata: metadata}})
	if err != nil {
		return err
	}
	if err := begin(page.State); err != nil {
		return err
	}
	for part := range slices.Chunk(page.Entries, partSize) {
		var out []leaderboard.Entry
		var bodies []string
		for _, e := range part {
			if out = append(out, e.Entry); metadata {
				bodies = append(bodies, e.Metadata)
			}
		}
		if err := entries(out, bodies); err != nil {
			return err
		}
		if err := f.enter("Export part"); err != nil {
			return err
		}
		if f.exportGate != nil {
			select {
			case <-f.exportGate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// ChangesAfter is of the model, as the app has it.
func (f *fake) ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error) {
	if err := f.enter("ChangesAfter"); err != nil {
		return leaderboard.LogPart{}, err
	}
	parts, err := f.CommitsSince(ctx, []leaderboard.PeriodRevision{from}, changes)
	if err != nil {
		return leaderboard.LogPart{}, err
	}
	part := parts[from.PeriodID]
	switch {
	case errors.Is(part.Err, rank.ErrDiverged):
		part.Err = leaderboard.ErrHistoryChanged
	case errors.Is(part.Err, leaderboard.ErrLogPruned):
		part.Err = leaderboard.ErrFeedPruned
	}
	return part, part.Err
}

func (f *fake) Verify(context.Context, leaderboard.PeriodRef) (leaderboard.Verification, error) {
	return f.verified, f.enter("Verify")
}
