package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard/features"
	"leaderboard/internal/app/installed"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

const (
	batchRows = 1000
	// stateLabel is a label of a board while it is being made. A board that still has it is made again from the start.
	stateLabel, stateLoading = "demo", "loading"
)

// Options are the options of Load.
type Options struct {
	DSN      string // of a database with the schema, that no server works on yet
	Members  int    // of Board
	Progress func(more int)
	Log      *slog.Logger
}

// loading is a run of Load.
type loading struct {
	Options
	store    *store.Store
	lists    friends  // nil: no lists
	profiles profiles // likewise
	clock    *clock
	now      time.Time // of the database, when it began
	audited  int64     // the last record of the audit then
	regulars []int     // numbers of the members who play day by day
}

// clock is the present time of the store, in microseconds; 0: the clock of the database.
type clock struct{ at atomic.Int64 }

func (c *clock) set(t time.Time) { c.at.Store(t.UnixMicro()) }

// sql returns the SQL expression for the present time.
func (c *clock) sql(database string) string {
	if at := leaderboard.Micros(c.at.Load()); at != 0 {
		return "TIMESTAMP'" + at.Time().Format("2006-01-02 15:04:05.000000") + "'"
	}
	return database
}

// Load makes the boards, unless Board is there. It plays on them day by day, through a store whose clock is in the past, so
// that there are closed periods. Progress is called with the number of members that were added to Board.
func Load(ctx context.Context, o Options) (err error) {
	c := &clock{}
	s, err := store.Open(ctx, store.Config{DSN: o.DSN, Clock: c.sql, BatchRows: batchRows, Logger: o.Log, Parts: installed.Parts()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	engine := features.On(s, installed.Features())
	l := &loading{Options: o, store: s, lists: features.Offered[friends](engine), profiles: features.Offered[profiles](engine), clock: c, regulars: regulars(o.Members)}
	if there, err := l.present(ctx, Board); there || err != nil {
		return err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	l.now = now.Time()
	if err := s.DB().QueryRowContext(ctx, "SELECT COALESCE(MAX(id), 0) FROM audit").Scan(&l.audited); err != nil {
		return err
	}
	return l.load(ctx)
}

// present reports whether a board exists and is complete. An unfinished board is deleted.
func (l *loading) present(ctx context.Context, name string) (bool, error) {
	b, err := l.store.Boards.Board(ctx, name)
	switch {
	case errors.Is(err, leaderboard.ErrBoardNotFound):
		return false, nil
	case err != nil:
		return false, err
	case b.Rules.Labels[stateLabel] != stateLoading:
		return true, nil
	}
	return false, l.store.Boards.DeleteBoard(ctx, name)
}

// load makes the boards that are not there. Board comes last: when it is there, all is done.
func (l *loading) load(ctx context.Context) error {
	rules := boardRules(l.now)
	board := rules[Board]
	loaders := []struct {
		name string
		fill func(context.Context, leaderboard.Rules) error
	}{
		{Board, l.fillBoard}, {Maze, l.fillMaze}, {Dungeon, l.fillDungeon}, {Cup, l.fillCup}, {Laps, l.fillLaps}, {Game, l.fillGame}, {Week, l.put(Week)},
	}
	for _, each := range loaders {
		there, err := l.present(ctx, each.name)
		if err == nil && !there {
			err = each.fill(ctx, rules[each.name])
		}
		if err != nil {
			return fmt.Errorf("board %s: %w", each.name, err)
		}
	}
	l.clock.at.Store(0)
	if err := l.people(ctx); err != nil {
		return err
	}
	if err := l.put(Board)(ctx, board); err != nil {
		return err
	}
	return l.forgetAudit(ctx)
}

// forgetAudit deletes the records of making the boards from the audit. No server and nobody else has worked on the database meanwhile.
func (l *loading) forgetAudit(ctx context.Context) error {
	_, err := l.store.DB().ExecContext(ctx, "DELETE FROM audit WHERE id > ? ORDER BY id LIMIT ?", l.audited, 10*batchRows)
	return err
}

// put returns a function that sets the rules of a board.
func (l *loading) put(name string) func(context.Context, leaderboard.Rules) error {
	return func(ctx context.Context, rules leaderboard.Rules) error {
		_, _, err := l.store.Boards.PutBoard(ctx, name, rules.WithDefaults())
		return err
	}
}

// begin makes a board with stateLabel, at a time. Plays on it are recorded, as its rules say.
func (l *loading) begin(ctx context.Context, name string, rules leaderboard.Rules, at time.Time) error {
	l.clock.set(at)
	rules.Labels = leaderboard.Labels{stateLabel: stateLoading}
	return l.put(name)(ctx, rules)
}

// submit puts entries on a board, which must all be accepted.
func (l *loading) submit(ctx context.Context, board string, entries []leaderboard.Submission) error {
	receipt, err := l.store.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: board, Entries: entries})
	if err != nil {
		return err
	}
	for _, r := range receipt.Results {
		if r.Status == leaderboard.StatusRejected {
			return fmt.Errorf("%s is rejected: %s", r.Member, r.Rule.Detail)
		}
	}
	return nil
}

// days calls play for the evening of each of the last days, oldest first, and for now. r is the same on every machine.
func (l *loading) days(step int, from int, play func(evening time.Time, r *rand.Rand) error) error {
	for ago := from; ago >= 0; ago -= step {
		evening := midnight(l.now).Add(-time.Duration(ago-1) * day).Add(-time.Second)
		if ago == 0 {
			evening = l.now
			l.clock.at.Store(0)
		} else {
			l.clock.set(evening)
		}
		if err := play(evening, rand.New(rand.NewPCG(uint64(ago), 13))); err != nil {
			return err
		}
	}
	return nil
}

// fillBoard adds the members to Board while it has no window but all_time, which costs least, and then plays the days.
func (l *loading) fillBoard(ctx context.Context, rules leaderboard.Rules) error {
	first := midnight(l.now).Add(-history * day)
	plain := rules
	plain.Windows, plain.Record = []leaderboard.Window{leaderboard.WindowAllTime}, leaderboard.RecordNone
	if err := l.begin(ctx, Board, plain, first); err != nil {
		return err
	}
	for from := 0; from < l.Members; from += batchRows {
		entries := entriesOf(from, min(from+batchRows, l.Members), leaderboard.MicrosOf(first))
		for i := range entries {
			if grows(from+i) && slices.Contains(l.regulars, from+i) {
				entries[i].Score = entries[i].Score / 30 * 10
			}
		}
		if err := l.submit(ctx, Board, entries); err != nil {
			return err
		}
		l.Progress(len(entries))
	}
	if err := l.begin(ctx, Board, rules, first); err != nil {
		return err
	}
	if err := l.days(1, history, func(evening time.Time, r *rand.Rand) error {
		ago := int(midnight(l.now).Sub(midnight(evening)) / day)
		return l.submit(ctx, Board, l.played(r, evening, func(i int) leaderboard.Submission {
			s := dayScore(r, Score(i))
			if peak := peakOf(i); grows(i) && ago == peak {
				s = Score(i)
			} else if grows(i) && ago > peak {
				s = max(10, s*int64(history-ago+2)/int64(history-peak+3)/10*10)
			}
			return leaderboard.Submission{Score: s}
		}))
	}); err != nil {
		return err
	}
	if err := l.submit(ctx, Board, []leaderboard.Submission{{Member: Cheat, Score: 999_999}}); err != nil {
		return err
	}
	_, err := l.store.Hidden.Hide(ctx, leaderboard.HideRequest{Board: Board, Member: Cheat, Reason: "999,999 points in three seconds", Actor: "demo"})
	return err
}

// grows reports whether a member reaches its best score on Board within the days that are played, so that the race of the board has climbing lines.
// The member in the examples has it before.
func grows(i int) bool { return i != Shown }

// peakOf returns how many days ago a member reached its best score.
func peakOf(i int) int { return 1 + rand.New(rand.NewPCG(uint64(i), 14)).IntN(history-3) }

// dayScore returns a member's score on a day, which is at most its best one.
func dayScore(r *rand.Rand, best int64) int64 {
	return max(10, int64(float64(best)*(0.3+0.65*r.Float64()))/10*10)
}

// played returns the submissions of a day: of most of the regulars, and always of the member in the examples.
func (l *loading) played(r *rand.Rand, evening time.Time, play func(i int) leaderboard.Submission) []leaderboard.Submission {
	var entries []leaderboard.Submission
	since := midnight(evening)
	for _, i := range l.regulars {
		if r.IntN(10) < 3 && i != Shown && since != midnight(l.now).Add(-time.Duration(peakOf(i))*day) {
			continue
		}
		e := play(i)
		created := leaderboard.MicrosOf(since.Add(time.Duration(r.Float64() * float64(evening.Sub(since)))))
		e.Member, e.CreatedTime = Member(i), &created
		entries = append(entries, e)
	}
	return entries
}

func (l *loading) fillMaze(ctx context.Context, rules leaderboard.Rules) error {
	return l.fill(ctx, Maze, rules, 4, 12, func(r *rand.Rand, i int) leaderboard.Submission {
		return leaderboard.Submission{Score: dayScore(r, Score(i+100))}
	})
}

func (l *loading) fillDungeon(ctx context.Context, rules leaderboard.Rules) error {
	return l.fill(ctx, Dungeon, rules, 7, 7, func(r *rand.Rand, i int) leaderboard.Submission {
		return leaderboard.Submission{Score: gold(r, i), Fields: dungeonFields(r)}
	})
}

// gold returns a score on Dungeon. There are few different ones, so that ties are frequent.
func gold(r *rand.Rand, i int) int64 { return 100 * (1 + Score(i)/500 + r.Int64N(5)) }

func dungeonFields(r *rand.Rand) map[string]int64 {
	return map[string]int64{"level": 1 + r.Int64N(12), "deaths": r.Int64N(20)}
}

func (l *loading) fillCup(ctx context.Context, rules leaderboard.Rules) error {
	return l.fill(ctx, Cup, rules, 1, 2*season+7, func(r *rand.Rand, i int) leaderboard.Submission {
		return leaderboard.Submission{Score: points(r, i)}
	})
}

// points returns the points of one match on Cup.
func points(r *rand.Rand, i int) int64 { return 1 + r.Int64N(3+Score(i)/250) }

func (l *loading) fillLaps(ctx context.Context, rules leaderboard.Rules) error {
	return l.fill(ctx, Laps, rules, 7, 14, func(r *rand.Rand, i int) leaderboard.Submission {
		return leaderboard.Submission{Score: lap(r, i)}
	})
}

func (l *loading) fillGame(ctx context.Context, rules leaderboard.Rules) error {
	return l.fill(ctx, Game, rules, 2, 6, func(r *rand.Rand, i int) leaderboard.Submission {
		return leaderboard.Submission{Score: 3 + Score(i)/300 + r.Int64N(9)}
	})
}

// lap returns a time on Laps: hundredths of a second, so that there are ties.
func lap(r *rand.Rand, i int) int64 { return 10 * (6200 - Score(i)/5 + r.Int64N(400)) }

// fill makes a board on the evening of a day, and plays on it every step days.
func (l *loading) fill(ctx context.Context, name string, rules leaderboard.Rules, step, from int, play func(*rand.Rand, int) leaderboard.Submission) error {
	if err := l.begin(ctx, name, rules, midnight(l.now).Add(-time.Duration(from)*day)); err != nil {
		return err
	}
	if err := l.days(step, from, func(evening time.Time, r *rand.Rand) error {
		return l.submit(ctx, name, l.played(r, evening, func(i int) leaderboard.Submission { return play(r, i) }))
	}); err != nil {
		return err
	}
	return l.put(name)(ctx, rules)
}
