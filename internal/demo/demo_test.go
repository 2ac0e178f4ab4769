package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/app/installed"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestEntries: the scores are plausible, have ties, and are the same on every machine.
func TestEntries(t *testing.T) {
	const now = leaderboard.Micros(1_800_000_000_000_000)
	entries := entriesOf(0, 5000, now)
	if got := slices.Concat(entriesOf(0, 100, now), entriesOf(100, 5000, now)); got[4999].Score != entries[4999].Score {
		t.Error("the entries depend on how they are cut into batches")
	}
	members, scores := map[string]bool{}, map[int64]int{}
	for i, e := range entries {
		members[e.Member] = true
		scores[e.Score]++
		if e.Score < 0 || e.Score > best || e.Score != Score(i) || *e.CreatedTime > now || *e.CreatedTime < now-leaderboard.Micros(span.Microseconds()) {
			t.Fatalf("%+v at %s", e, *e.CreatedTime)
		}
		if broken := leaderboard.CheckMember(e.Member); broken != nil {
			t.Fatal(broken)
		}
	}
	if len(members) != 5000 {
		t.Errorf("%d different members", len(members))
	}
	if scores[best] < 2 || len(scores) < 100 || len(scores) > 1000 {
		t.Errorf("%d different scores, %d members share the best", len(scores), scores[best])
	}
	slices.SortFunc(entries, func(a, b leaderboard.Submission) int { return int(a.Score - b.Score) })
	if median := entries[2500].Score; median < 300 || median > 1500 {
		t.Errorf("the median score is %d", median)
	}
	// Golden: the examples in the documentation name these.
	if Member(Shown) != "lucky-ibex-8" || Score(Shown) != 1500 {
		t.Errorf("%s has %d", Member(Shown), Score(Shown))
	}
}

// TestRegulars: all regulars are members of the board, also of a small one.
func TestRegulars(t *testing.T) {
	for members, want := range map[int]int{1: 1, 50: 50, 5000: 150, 2_000_000: 150} {
		got := regulars(members)
		if len(got) > want || len(got) < want*9/10 || !slices.IsSorted(got) || got[len(got)-1] >= members || (members > Shown && !slices.Contains(got, Shown)) {
			t.Errorf("of %d members %d play: %v", members, len(got), got)
		}
	}
}

// world is a database with the boards.
type world struct {
	*store.Store
	t       *testing.T
	dsn     string
	ahead   time.Duration // of the clock
	members int           // that Load said it has put on Board
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dsn: testenv.MySQL(t)}
	s, err := store.Open(t.Context(), store.Config{DSN: w.dsn, Clock: dbtest.ClockAhead(func() time.Duration { return w.ahead }), Parts: installed.Parts()})
	if err != nil {
		t.Fatal(err)
	}
	w.Store = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := migrations.Up(t.Context(), s.DB()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) load(ctx context.Context, members int) error {
	return Load(ctx, Options{DSN: w.dsn, Members: members, Progress: func(more int) { w.members += more }, Log: slog.New(slog.DiscardHandler)})
}

func (w *world) mustLoad(members int) {
	w.t.Helper()
	if err := w.load(w.t.Context(), members); err != nil {
		w.t.Fatal(err)
	}
}

// periods returns the periods of a window, newest first.
func (w *world) periods(board string, window leaderboard.Window) []leaderboard.Period {
	w.t.Helper()
	l, err := w.Boards.Current(w.t.Context(), board)
	if err != nil {
		w.t.Fatal(err)
	}
	periods, err := w.Boards.PeriodsBefore(w.t.Context(), l.Board.ID, window, l.Clock+1, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return periods
}

// seqs returns the seq of each board.
func (w *world) seqs() map[string]int64 {
	w.t.Helper()
	seqs := map[string]int64{}
	for name := range boardRules(time.Now()) {
		l, err := w.Boards.Current(w.t.Context(), name)
		if err != nil {
			w.t.Fatal(err)
		}
		seqs[name] = l.Periods[0].LastSeq
	}
	return seqs
}

// top returns who has which score among the first of Board.
func (w *world) top() []string {
	w.t.Helper()
	l, err := w.Boards.Current(w.t.Context(), Board)
	if err != nil {
		w.t.Fatal(err)
	}
	page, err := w.Entries.Page(w.t.Context(), l.Periods[0].Ref(&l.Board), leaderboard.PageQuery{Limit: 25})
	if err != nil {
		w.t.Fatal(err)
	}
	rows := make([]string, len(page.Entries))
	for i, e := range page.Entries {
		rows[i] = fmt.Sprint(e.Member, " ", e.Score)
	}
	return rows
}

// TestLoad makes the boards: they have closed periods with entries, the cheat is hidden, members have names. A second Load changes
// nothing.
func TestLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustLoad(1200)
	if all := w.periods(Board, leaderboard.WindowAllTime)[0]; all.EntryCount != 1200 || w.members != 1200 {
		t.Errorf("%d entries, %d told", all.EntryCount, w.members)
	}
	for _, each := range []struct {
		board   string
		window  leaderboard.Window
		periods int
	}{
		{Board, leaderboard.WindowDay, history + 1},
		{Board, leaderboard.WindowWeek, 3},
		{Cup, leaderboard.WindowSeason, 3},
		{Maze, leaderboard.WindowDay, 4},
		{Laps, leaderboard.WindowWeek, 3},
		{Game, leaderboard.WindowDay, 4},
		{Dungeon, leaderboard.WindowAllTime, 1},
	} {
		periods := w.periods(each.board, each.window)
		if len(periods) < each.periods {
			t.Errorf("%s has %d periods of %s, want %d", each.board, len(periods), each.window, each.periods)
		}
		for i, p := range periods {
			if p.EntryCount < 80 || (p.State == leaderboard.PeriodStateClosed) != (i > 0) {
				t.Errorf("%s %s is %s with %d entries", each.board, p.Name(), p.State, p.EntryCount)
			}
		}
	}
	if n := dbtest.Count(t, w.DB(), "(SELECT DISTINCT DATE(s.recorded_at) FROM submissions s JOIN boards b ON b.id = s.board_id WHERE b.name = '"+Cup+"') AS days"); n < 2*season {
		t.Errorf("points were made on %s on %d days", Cup, n)
	}
	if laps, err := w.Boards.Board(t.Context(), Laps); err != nil || laps.Rules.Display.Text(83450) != "1:23.450" {
		t.Errorf("a lap is shown as %q, %v", laps.Rules.Display.Text(83450), err)
	}
	hidden, err := w.Hidden.Hidden(t.Context(), leaderboard.HiddenQuery{Limit: 10})
	if err != nil || len(hidden) != 1 || hidden[0].Member != Cheat || hidden[0].Board != Board {
		t.Errorf("hidden: %+v, %v", hidden, err)
	}
	if n := dbtest.Count(t, w.DB(), "friends WHERE member = '"+Member(Shown)+"'"); n < 10 {
		t.Errorf("%d friends", n)
	}
	if n := dbtest.Count(t, w.DB(), "profiles"); n != len(regulars(1200)) {
		t.Fatalf("%d profiles", n)
	}
	for _, name := range strings.Split(strings.TrimSpace(names), "\n") {
		if dbtest.Count(t, w.DB(), "profiles WHERE display_name = ?", []byte(name)) != 1 {
			t.Errorf("no member is called %s", name)
		}
	}
	if n := dbtest.Count(t, w.DB(), "audit"); n != 0 {
		t.Errorf("the audit has %d records of making the demo", n)
	}
	if n := dbtest.Count(t, w.DB(), "submissions WHERE recorded_at < NOW() - INTERVAL 7 DAY"); n < 100 {
		t.Errorf("%d submissions of more than a week ago are recorded: the race has no past", n)
	}
	before := w.seqs()
	w.mustLoad(99)
	if after := w.seqs(); !mapsEqual(before, after) {
		t.Errorf("loaded again: %v, before %v", after, before)
	}
}

func mapsEqual(a, b map[string]int64) bool {
	for name, v := range a {
		if b[name] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// TestLoadFew: a demo of one member has days without play.
func TestLoadFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustLoad(1)
	if days := w.periods(Board, leaderboard.WindowDay); len(days) < 2 {
		t.Errorf("%d days", len(days))
	}
	r, p := rand.New(rand.NewPCG(1, 2)), newPlayer(storetest.Of(w.Store, storetest.Added{}), 1)
	for range 20 {
		if err := p.play(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLoadIsKilled: after a kill, an unfinished board is made again from the start. A board made by hand is left alone, by the
// player too.
func TestLoadIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, _, err := w.Boards.PutBoard(t.Context(), Laps, leaderboard.Rules{Title: "mine"}.WithDefaults()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Load(ctx, Options{DSN: w.dsn, Members: 2500, Progress: func(int) { cancel() }, Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cut off: %v", err)
	}
	w.mustLoad(1500)
	if all := w.periods(Board, leaderboard.WindowAllTime)[0]; all.EntryCount != 1500 {
		t.Errorf("%d entries", all.EntryCount)
	}
	r, p := rand.New(rand.NewPCG(1, 2)), newPlayer(storetest.Of(w.Store, storetest.Added{}), 1500)
	for range 60 {
		if err := p.play(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := w.Boards.Current(t.Context(), Laps); err != nil || l.Board.Rules.Title != "mine" || l.Periods[0].LastSeq != 0 {
		t.Errorf("the board made by hand is %+v, %v", l.Board.Rules, err)
	}
}

// TestFirstPlay: the first score moves a row that the page of Board shows, whatever the dice say.
func TestFirstPlay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustLoad(300)
	for seed := range uint64(20) {
		r, p := rand.New(rand.NewPCG(1, seed)), newPlayer(storetest.Of(w.Store, storetest.Added{}), 300)
		before := w.top()
		if err := p.play(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if after := w.top(); slices.Equal(before, after) {
			t.Errorf("dice %d: nobody moves among %v", seed, after)
		}
	}
}

// TestPlay: scores come to every board, also on the next day and in the next season, no member joins, and the player plays
// for its own members only.
func TestPlay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustLoad(300)
	you := []leaderboard.Submission{{Member: "you", Score: best + 1}}
	if _, err := w.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: Board, Entries: you}); err != nil {
		t.Fatal(err)
	}
	r, p := rand.New(rand.NewPCG(1, 2)), newPlayer(storetest.Of(w.Store, storetest.Added{}), 300)
	for _, ahead := range []time.Duration{0, day, season * day} {
		w.ahead = ahead
		before := w.seqs()
		for range 60 {
			if err := p.play(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		after := w.seqs()
		for _, name := range []string{Board, Maze, Dungeon, Cup} {
			if ahead == 0 && after[name] <= before[name] || after[name] == 0 {
				t.Errorf("%s ahead there is no play on %s: seq %d, before %d", ahead, name, after[name], before[name])
			}
		}
		if today := w.periods(Board, leaderboard.WindowDay); today[0].EntryCount == 0 {
			t.Errorf("%s ahead there is no play", ahead)
		}
	}
	if all := w.periods(Board, leaderboard.WindowAllTime)[0]; all.EntryCount != 301 {
		t.Errorf("there are %d members, want 301", all.EntryCount)
	}
	l, err := w.Boards.Current(t.Context(), Board)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Entries.Members(t.Context(), l.Periods[0].Ref(&l.Board), leaderboard.MembersQuery{Members: []string{"you"}})
	if err != nil || len(s.Entries) != 1 || s.Entries[0].Score != best+1 {
		t.Errorf("you: %+v, %v", s, err)
	}
}
