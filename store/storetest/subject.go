package storetest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Database is the part of a store without features.
type Database interface {
	leaderboard.BatchRankings
	leaderboard.CombinedRankings
	leaderboard.Pasts

	Ping(ctx context.Context) error
	Now(ctx context.Context) (leaderboard.Micros, error)
	Sweep(ctx context.Context) error

	PutBoard(ctx context.Context, name string, rules leaderboard.Rules) (leaderboard.Board, bool, error)
	ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (leaderboard.Board, bool, error)
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
	DeleteBoard(ctx context.Context, name string) error
	Current(ctx context.Context, name string) (leaderboard.Listing, error)
	PeriodNamed(ctx context.Context, boardID int64, w leaderboard.Window, name string) (leaderboard.Period, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
	FirstPeriod(ctx context.Context, boardID int64, w leaderboard.Window) (leaderboard.Period, error)
	Period(ctx context.Context, id int64) (leaderboard.Period, error)
	Periods(ctx context.Context, boardID int64, w leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error)
	PeriodsBefore(ctx context.Context, boardID int64, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error)

	Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error)
	SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error)
	Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error)

	Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error)
	Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error)
	Restore(ctx context.Context, r leaderboard.HideRequest) error
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)

	Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error)
	CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error)
	Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error

	StartRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error)
	FinishRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error)
	EndRuns(ctx context.Context) error
	Run(ctx context.Context, id int64) (leaderboard.Run, error)
	Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error)
}

// Featured is a store with the parts of features.
type Featured interface {
	Database
	Desk
	Plays
}

var (
	_ Featured = (*Model)(nil)
	_ Featured = whole{}
)

// Subject is the store on which a suite is run. Suites make their own boards and leave other boards alone.
type Subject struct {
	// Database is where boards are made and scores submitted.
	Database Database
	// Featured is Database with the parts of features; nil: no features, and histories do without.
	Featured Featured
	// Rankings answers the queries: Database itself, or a layer above it.
	Rankings leaderboard.Rankings
	// WithoutMetadata: Rankings leaves the metadata of entries to the layer above it.
	WithoutMetadata bool
	// Metadata looks up the metadata of entries alone; nil: nothing does.
	Metadata func(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error)
	// Compare compares an answer of a feature about a period with the members of its ranking in the model. The property test calls it
	// after every step; nil: nothing is compared.
	Compare func(ctx context.Context, t *rapid.T, ref leaderboard.PeriodRef, ranking []string)
	// Pasts answers about the past of members; nil: Database does.
	Pasts leaderboard.Pasts
	// Disturb are things that may happen to a period at any time without changing an answer: a rebuild of a copy, a
	// flushed cache. The property test has them happen.
	Disturb map[string]func(ctx context.Context, ref leaderboard.PeriodRef) error
	// SetNow stops the database clock of Database at a moment. nil: it cannot be set, and the property test leaves calendar
	// windows alone. A subject with its own clock is used by one test at a time.
	SetNow func(leaderboard.Micros)
}

// past asks about the past of members: Pasts, or else the database.
func (s *Subject) past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	if s.Pasts == nil {
		return s.Database.Past(ctx, periods, member)
	}
	return s.Pasts.Past(ctx, periods, member)
}

// board is a board of one test, with its only period.
type board struct {
	Subject
	t    testing.TB
	ref  leaderboard.PeriodRef
	last int64 // seq of the last write
}

// newBoard makes a board named after the test.
func newBoard(t testing.TB, s Subject, rules leaderboard.Rules) *board {
	t.Helper()
	return newBoardNamed(t, s, boardName(t), rules)
}

func newBoardNamed(t testing.TB, s Subject, name string, rules leaderboard.Rules) *board {
	t.Helper()
	b, _, err := s.Database.PutBoard(t.Context(), name, rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Database.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	return &board{Subject: s, t: t, ref: p.Ref(&b)}
}

// boardName returns a valid name, different for each test.
func boardName(t testing.TB) string {
	name := []byte("t-")
	for _, c := range []byte(t.Name()) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			name = append(name, c)
		case c >= 'A' && c <= 'Z':
			name = append(name, c+'a'-'A')
		default:
			name = append(name, '-')
		}
	}
	if len(name) > leaderboard.MaxBoardName {
		name = append(name[:8], name[len(name)-leaderboard.MaxBoardName+8:]...)
	}
	return string(name)
}

// submit submits and returns the results.
func (b *board) submit(entries ...leaderboard.Submission) []leaderboard.Result {
	b.t.Helper()
	r, err := b.Database.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: entries})
	if err != nil {
		b.t.Fatal(err)
	}
	b.last = r.Seq
	return r.Results
}

// query asks for a state with everything submitted so far in it.
func (b *board) query(mode leaderboard.Mode) leaderboard.Query {
	return leaderboard.Query{Mode: mode, MinSeq: b.last}
}

// page returns a page as text: "rank member score", one per entry.
func (b *board) page(q leaderboard.PageQuery) []string {
	b.t.Helper()
	q.MinSeq = b.last
	p, err := b.Rankings.Page(b.t.Context(), b.ref, q)
	if err != nil {
		b.t.Fatal(err)
	}
	b.checkState(p.State)
	checkAsOf(b.t, p)
	return lines(p, q.Mode)
}

// checkAsOf checks that no entry is newer than the state that it is in.
func checkAsOf(t testing.TB, p *leaderboard.Page) {
	t.Helper()
	for _, e := range p.Entries {
		if e.CreatedTime > p.AsOf {
			t.Fatalf("as of %s %s has an entry of %s", p.AsOf, e.Member, e.CreatedTime)
		}
	}
}

// lines returns a page as text: "rank member score", one per entry.
func lines(p *leaderboard.Page, mode leaderboard.Mode) []string {
	out := []string{}
	for _, e := range p.Entries {
		out = append(out, fmt.Sprintf("%s %s %d", rankText(mode, e.Ranks), e.Member, e.Score))
	}
	return out
}

// rankText returns the rank that an answer in a mode has, strict/tied/dense in mode all.
func rankText(mode leaderboard.Mode, r leaderboard.Ranks) string {
	if mode == leaderboard.ModeAll {
		return fmt.Sprintf("%d/%d/%d", r.Strict, r.Tied, r.Dense)
	}
	return strconv.FormatInt(r.In(mode), 10)
}

// checkState holds an answer's state against the period.
func (b *board) checkState(got leaderboard.State) {
	b.t.Helper()
	p, err := b.Database.Period(b.t.Context(), b.ref.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	if got.Seq != p.LastSeq || got.Total != p.EntryCount || got.AsOf != p.Committed || got.Source == "" || got.Stale {
		b.t.Errorf("state is %+v, want that of the period %+v", got, p)
	}
}

func score(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score}
}

func at(member string, score int64, created leaderboard.Micros) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score, CreatedTime: &created}
}

// QueryEach asks one question after the other: like leaderboard.BatchRankings.Query, except that the states may differ.
func QueryEach(ctx context.Context, r leaderboard.Rankings, p leaderboard.PeriodRef, questions []leaderboard.Question) []leaderboard.Answer {
	out := make([]leaderboard.Answer, len(questions))
	for i, q := range questions {
		switch a := &out[i]; {
		case q.Page != nil:
			a.Page, a.Err = r.Page(ctx, p, *q.Page)
		case q.Members != nil:
			a.Members, a.Err = r.Members(ctx, p, *q.Members)
		case q.Moves != nil:
			a.Moves, a.Err = r.Moves(ctx, p, *q.Moves)
		default:
			a.Score, a.Err = r.ScoreRank(ctx, p, *q.Score)
		}
	}
	return out
}
