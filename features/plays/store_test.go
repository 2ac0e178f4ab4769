package plays

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// serve returns a store with the feature.
func serve(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	s, _ := featuretest.Store(t, dsn, []features.Feature{Feature()}, change)
	return s
}

// asPlayer is a context in which a player calls.
func asPlayer(ctx context.Context, member string) context.Context {
	return leaderboard.WithCaller(ctx, leaderboard.Caller{Key: "issuer:game", Player: leaderboard.PlayerOwner("issuer:game", member)})
}

// playBoard makes a board on which players submit with plays of 10 s to 1 m, at most 5 points a second, and the policy sum,
// so that a play that counts twice is seen.
func playBoard(t *testing.T, s *store.Store, name string) (leaderboard.Board, leaderboard.PeriodRef) {
	t.Helper()
	rate := int64(5)
	ref := dbtest.MakeBoard(t, s, name, leaderboard.Rules{
		Policy: leaderboard.PolicySum, Limits: leaderboard.Limits{PerSecond: &rate},
		Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MinTime: "10s", MaxTime: "1m"},
	})
	b, err := s.Boards.Board(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return b, ref
}

func begin(t *testing.T, s *store.Store, b leaderboard.Board, member string) *leaderboard.PlayID {
	t.Helper()
	play, err := NewStore(s.Database()).BeginPlay(t.Context(), b, member)
	if err != nil || play.Member != member || play.Board != b.Name || play.StartedTime == 0 {
		t.Fatalf("%+v, %v", play, err)
	}
	return &play.ID
}

// with is a submission with a play.
func with(play *leaderboard.PlayID, board, key, member string, score int64) leaderboard.SubmitRequest {
	r := dbtest.One(board, key, member, score)
	r.Entries[0].Play = play
	return r
}

// TestPlaysRaced: two servers submit with one play at once, again and again: one of them counts. A play that is begun while
// one is being submitted with is another play.
func TestPlaysRaced(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		ahead := dbtest.ClockBy(&offset)
		servers := []*store.Store{serve(t, dsn, ahead), serve(t, dsn, ahead)}
		b, ref := playBoard(t, servers[0], "b")
		ctx := asPlayer(t.Context(), "m")
		const rounds, callers = 10, 6
		for range rounds {
			play := begin(t, servers[0], b, "m")
			offset.Add(int64(20 * time.Second))
			results := make(chan string, callers)
			for i := range callers {
				go func() {
					r, err := servers[i%2].Writer.Submit(ctx, with(play, "b", "", "m", 1))
					if err != nil {
						results <- err.Error()
						return
					}
					if results <- string(r.Results[0].Status); r.Results[0].Rule != nil && r.Results[0].Rule.Code != leaderboard.CodePlayGone {
						t.Errorf("refused: %v", r.Results[0].Rule)
					}
				}()
			}
			got := map[string]int{}
			for range callers {
				got[dbtest.Await(t, "a result", results)]++
			}
			if got[string(leaderboard.StatusApplied)] != 1 || got[string(leaderboard.StatusRejected)] != callers-1 {
				t.Fatalf("%v, want one that is applied", got)
			}
		}
		if got := dbtest.ScoreOf(t, servers[1], ref, "m"); got != rounds {
			t.Errorf("the score is %d after %d plays", got, rounds)
		}
		storetest.CheckLog(t, storetest.Of(servers[0], storetest.Added{}), ref)
	})
}

// TestPlayBeganDuringSubmit: a play that is begun between the look at a play and the COMMIT that uses it up waits for that, so it
// is not used up with it.
func TestPlayBeganDuringSubmit(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const member = "begins-while-submitting"
		p, through := dbtest.NewProxy(t, dsn)
		submitting, direct := serve(t, through, nil), serve(t, dsn, nil)
		ref := dbtest.MakeBoard(t, direct, "b", leaderboard.Rules{Policy: leaderboard.PolicySum, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
		b, err := direct.Boards.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		first, second := begin(t, direct, b, member), leaderboard.Play{}
		began, asked := make(chan error, 1), false
		p.FaultBy(func(statement string) dbtest.Fault {
			if strings.Contains(statement, "DELETE FROM plays") && !asked {
				asked = true
				var id []byte
				err := direct.DB().QueryRowContext(t.Context(), "SELECT id FROM plays WHERE board_id = ? FOR UPDATE NOWAIT", b.ID).Scan(&id)
				if broken, ok := errors.AsType[*mysql.MySQLError](err); !ok || broken.Number != 3572 && broken.Number != 1205 {
					t.Errorf("the row of the play is not locked: %x, %v", id, err)
				}
				go func() {
					play, err := NewStore(direct.Database()).BeginPlay(context.Background(), b, member)
					second = play
					began <- err
				}()
			}
			return dbtest.FaultPass
		})
		ctx := asPlayer(t.Context(), member)
		r, err := submitting.Writer.Submit(ctx, with(first, "b", "", member, 1))
		if err != nil || r.Results[0].Status != leaderboard.StatusApplied {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := dbtest.Await(t, "a play", began); err != nil {
			t.Fatal(err)
		}
		p.Heal()
		if r, err := submitting.Writer.Submit(ctx, with(&second.ID, "b", "", member, 1)); err != nil || r.Results[0].Status != leaderboard.StatusApplied {
			t.Errorf("the second play: %+v, %v", r, err)
		}
		if got := dbtest.ScoreOf(t, direct, ref, member); got != 2 {
			t.Errorf("the score is %d after two plays", got)
		}
	})
}

// TestPlayCommitLost: a play is used up with the score, or neither happened: killed ahead of COMMIT, or when its answer is lost. The
// same key then has the one result, and the play counts once.
func TestPlayCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.LoseCommits(t, serve, func(t *testing.T, l *dbtest.LostCommit) {
		ref := dbtest.MakeBoard(t, l.Direct, "b", leaderboard.Rules{Policy: leaderboard.PolicySum, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
		if _, err := l.Lossy.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 10)); err != nil {
			t.Fatal(err)
		}
		b, err := l.Direct.Boards.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		play, ctx := begin(t, l.Direct, b, "m"), asPlayer(t.Context(), "m")
		key := leaderboard.IdempotencyKeyOf(ctx, "key")
		l.Lose()
		if r, err := l.Lossy.Writer.Submit(ctx, with(play, "b", key, "m", 5)); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Fatalf("%+v, %v; want an unknown outcome", r, err)
		}
		rows := dbtest.Count(t, l.Direct.DB(), "plays")
		if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != l.After || (got == 10) != (rows == 1) {
			t.Fatalf("the score is %d with %d plays, want %d", got, rows, l.After)
		}
		var first leaderboard.Receipt
		for i := range 3 {
			r, err := l.Lossy.Writer.Submit(ctx, with(play, "b", key, "m", 5))
			if err != nil || r.Results[0].Status != leaderboard.StatusApplied || *r.Results[0].Score != 15 {
				t.Errorf("retry %d: %+v, %v", i, r, err)
			}
			if r.Replayed = true; i > 0 && !reflect.DeepEqual(r, first) {
				t.Errorf("retry %d: %+v, the one before got %+v", i, r, first)
			}
			first = r
		}
		if r, err := l.Lossy.Writer.Submit(ctx, with(play, "b", "", "m", 5)); err != nil || r.Results[0].Status != leaderboard.StatusRejected {
			t.Errorf("the play once more: %+v, %v", r, err)
		}
		if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != 15 {
			t.Errorf("the score is %d in the end, want 15", got)
		}
	})
}

// TestPlayKilledBeforeCommit: a connection that breaks at the row of the play, or ahead of COMMIT, used nothing up: the batch is
// sent again, and the play counts once.
func TestPlayKilledBeforeCommit(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		for _, statement := range []string{"FROM plays FORCE INDEX (PRIMARY)", "DELETE FROM plays", "COMMIT"} {
			for _, f := range []dbtest.Fault{dbtest.FaultCutBefore, dbtest.FaultCutAfter} {
				if statement == "COMMIT" && f == dbtest.FaultCutAfter {
					continue // TestPlayCommitLost
				}
				p, through := dbtest.NewProxy(t, dsn)
				s := serve(t, through, nil)
				name := fmt.Sprintf("killed-%d-%d", len(statement), f)
				ref := dbtest.MakeBoard(t, s, name, leaderboard.Rules{Policy: leaderboard.PolicySum, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
				b, err := s.Boards.Board(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				play, ctx := begin(t, s, b, "m"), asPlayer(t.Context(), "m")
				p.On(statement, f, 1)
				r, err := s.Writer.Submit(ctx, with(play, name, "", "m", 5))
				p.Heal()
				switch {
				case errors.Is(err, leaderboard.ErrOutcomeUnknown) && statement == "COMMIT": // nothing came to the database
					if got := dbtest.ScoreOf(t, s, ref, "m"); got != -1 {
						t.Errorf("%s, fault %d: the score is %d", statement, f, got)
					}
					r, err = s.Writer.Submit(ctx, with(play, name, "", "m", 5))
				case errors.Is(err, leaderboard.ErrOutcomeUnknown):
					t.Errorf("%s, fault %d: %v", statement, f, err)
				}
				if err != nil || r.Results[0].Status != leaderboard.StatusApplied {
					t.Errorf("%s, fault %d: %+v, %v", statement, f, r, err)
				}
				if r, err := s.Writer.Submit(ctx, with(play, name, "", "m", 5)); err != nil || r.Results[0].Status != leaderboard.StatusRejected {
					t.Errorf("%s, fault %d, once more: %+v, %v", statement, f, r, err)
				}
				if got := dbtest.ScoreOf(t, s, ref, "m"); got != 5 {
					t.Errorf("%s, fault %d: the score is %d, want 5", statement, f, got)
				}
				storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
			}
		}
	})
}

// TestPlaysAreFew: a bot that begins 1,000 plays and keeps them has one row, and one play that counts, the last.
// Housekeeping deletes unused plays, and a deleted board takes its plays along.
func TestPlaysAreFew(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := serve(t, dsn, dbtest.ClockBy(&offset))
		db, ctx := dbtest.Connect(t, dsn), asPlayer(t.Context(), "bot")
		b, ref := playBoard(t, s, "b")
		var plays []*leaderboard.PlayID
		for range 1000 {
			plays = append(plays, begin(t, s, b, "bot"))
		}
		if n := dbtest.Count(t, db, "plays"); n != 1 {
			t.Errorf("%d rows", n)
		}
		offset.Add(int64(20 * time.Second))
		request := leaderboard.SubmitRequest{Board: "b"}
		for i := range plays {
			request.Entries = append(request.Entries, with(plays[i], "b", "", "bot", 1).Entries...)
		}
		r, err := s.Writer.Submit(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		for i, res := range r.Results {
			if (res.Status == leaderboard.StatusApplied) != (i == 999) {
				t.Errorf("play %d: %s", i, res.Status)
			}
		}
		if got := dbtest.ScoreOf(t, s, ref, "bot"); got != 1 || dbtest.Count(t, db, "plays") != 0 {
			t.Errorf("the score is %d, want 1, and %d plays are left", got, dbtest.Count(t, db, "plays"))
		}
		begin(t, s, b, "old")
		offset.Add(int64(leaderboard.MaxPlayTime + 2*time.Hour))
		begin(t, s, b, "young")
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if dbtest.Count(t, db, "plays WHERE member = 'young'") != 1 || dbtest.Count(t, db, "plays") != 1 {
			t.Errorf("%d plays are left, want the young one", dbtest.Count(t, db, "plays"))
		}
		if err := s.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "plays"); n != 0 {
			t.Errorf("%d plays of a board that is gone", n)
		}
	})
}
