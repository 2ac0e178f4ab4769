package installed_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/derived"
	"leaderboard/features/plays"
	"leaderboard/features/review"
	"leaderboard/internal/app/installed"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// goldenFile has every statement that a batch sends, by scenario. UPDATE_GOLDEN=1 writes it.
const goldenFile = "testdata/batches.golden"

// TestGoldenBatches: a batch sends the database the packets of the golden file, byte for byte, in both dialects. The clock stands
// where a scenario sets it, ids come from a counter, and each scenario begins with empty tables and a new store. The file differs
// from the packets in two ways: the limit on the time of a reading statement, which the dialects spell differently, is [limited],
// and of a text of more than longText bytes the end is a hash.
func TestGoldenBatches(t *testing.T) {
	t.Parallel()
	update := os.Getenv("UPDATE_GOLDEN") != ""
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		got := goldenText(t, dsn)
		if update && strings.HasSuffix(t.Name(), "/mysql") {
			if err := os.WriteFile(goldenFile, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		golden, err := os.ReadFile(goldenFile)
		if err != nil {
			t.Fatal(err)
		}
		if want := string(golden); !update && got != want {
			t.Error("what batches send is not what " + goldenFile + " has; if it is meant to change: UPDATE_GOLDEN=1\n" + difference(want, got))
		}
	})
}

// goldenText runs all scenarios and returns what the golden file should have.
func goldenText(t *testing.T, dsn string) string {
	t.Helper()
	dbtest.Open(t, dsn, nil) // migrates
	db := dbtest.Connect(t, dsn)
	p, through := dbtest.NewProxy(t, dsn)
	var out strings.Builder
	for _, scenario := range goldenScenarios() {
		emptyTables(t, db)
		g := newGolden(t, p, through)
		fmt.Fprintf(&out, "=== %s\n", scenario.name)
		scenario.run(g)
		p.Heal()
		if err := g.s.Close(); err != nil {
			t.Fatal(err)
		}
		out.WriteString(g.out.String())
	}
	return out.String()
}

// emptyTables brings a database to its state after the migrations; ids begin with 1.
func emptyTables(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"+
		" AND table_name NOT IN ('goose_db_version', 'table_versions')")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var used bool
		if err := db.QueryRowContext(t.Context(), "SELECT EXISTS(SELECT 1 FROM `"+name+"`)").Scan(&used); err != nil {
			t.Fatal(err)
		}
		if used {
			dbtest.MustExec(t, db, "TRUNCATE TABLE `"+name+"`")
		}
	}
	dbtest.MustExec(t, db, "DELETE FROM table_versions WHERE name <> 'endpoints'")
	dbtest.MustExec(t, db, "UPDATE table_versions SET version = 0")
}

// golden is a scenario under way.
type golden struct {
	*testing.T
	s     *store.Store
	sums  *derived.Stepper // of s
	proxy *dbtest.Proxy
	dsn   string // through the proxy
	now   leaderboard.Micros
	ids   atomic.Uint64 // how often random bits were given out
	sent  []string
	out   strings.Builder
}

// newGolden returns a scenario with a new store, on 2026-11-20 at noon.
func newGolden(t *testing.T, p *dbtest.Proxy, dsn string) *golden {
	t.Helper()
	g := &golden{T: t, proxy: p, dsn: dsn}
	g.at("2026-11-20T12:00:00Z")
	g.restart()
	return g
}

// restart gives the scenario a new store, which knows no board.
func (g *golden) restart() {
	g.Helper()
	g.s = g.server()
	g.sums = features.Offered[*derived.Stepper](features.On(g.s, []features.Feature{derived.Feature()}))
}

// server opens a store.
func (g *golden) server() *store.Store {
	g.Helper()
	cfg := store.Config{DSN: g.dsn, Clock: g.clock, Parts: installed.Parts()}
	dbtest.Patient(&cfg)
	cfg.Random = func() uint64 { return g.ids.Add(1) * 0x0123_4567_89ab_cdef }
	s, err := store.Open(g.Context(), cfg)
	if err != nil {
		g.Fatal(err)
	}
	return s
}

// clock is the clock of the database.
func (g *golden) clock(database string) string {
	return dbtest.ClockAt(func() leaderboard.Micros { return g.now })(database)
}

// at sets the clock.
func (g *golden) at(now string) {
	g.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		g.Fatal(err)
	}
	g.now = leaderboard.MicrosOf(at)
}

// board makes a board.
func (g *golden) board(name string, rules leaderboard.Rules) {
	g.Helper()
	if _, _, err := g.s.Boards.PutBoard(g.Context(), name, rules); err != nil {
		g.Fatal(err)
	}
}

// ctx is the context of a caller.
func (g *golden) ctx(c leaderboard.Caller) context.Context {
	c.RequestID = "00c0ffee"
	return leaderboard.WithCaller(g.Context(), c)
}

// silently calls do without recording, for preparations such as a first submission, by which the store learns of a board.
func (g *golden) silently(do func() (string, error)) {
	g.Helper()
	if _, err := do(); err != nil {
		g.Fatal(err)
	}
}

// record writes down the packets that do sends, and its answer.
func (g *golden) record(what string, do func() (string, error)) {
	g.Helper()
	g.listen()
	answer, err := do()
	g.proxy.Heal()
	g.write(what, answer, err)
}

// recordBatches writes down the packets of batches that do sends, without packets between batches, and its answer.
func (g *golden) recordBatches(what string, do func() (string, error)) {
	g.Helper()
	g.listen()
	answer, err := do()
	g.proxy.Heal()
	inBatch := false
	g.sent = slices.DeleteFunc(g.sent, func(packet string) bool {
		begins, ends := strings.HasPrefix(packet, "START TRANSACTION;"), packet == "COMMIT" || packet == "ROLLBACK"
		was := inBatch
		inBatch = (inBatch || begins) && !ends
		return !was && !begins
	})
	g.write(what, answer, err)
}

// listen has the statements of the store written down from now on.
func (g *golden) listen() {
	g.sent = nil
	g.proxy.FaultBy(func(statement string) dbtest.Fault { // one at a time
		if !setsUp(statement) {
			g.sent = append(g.sent, statement)
		}
		return dbtest.FaultPass
	})
}

// write appends the packets that were sent, and the answer.
func (g *golden) write(what, answer string, err error) {
	fmt.Fprintf(&g.out, "\n--- %s\n", what)
	for i, packet := range g.sent {
		fmt.Fprintf(&g.out, "packet %d\n", i+1)
		for _, statement := range statementsOf(limits.ReplaceAllString(packet, "[limited] ")) {
			fmt.Fprintf(&g.out, "\t%s\n", shortened(statement))
		}
	}
	if err != nil {
		answer = err.Error()
	}
	fmt.Fprintf(&g.out, "answer: %s\n", shortened(answer))
}

// together has requests for a board wait for a batch with a submission, and writes down the batch that they become.
func (g *golden) together(what, board string, requests ...func() (string, error)) {
	g.Helper()
	held, release := g.proxy.Hold("COMMIT", 1)
	ahead := make(chan error, 1)
	go func() {
		_, err := g.scores(board, sub("ahead", 1))()
		ahead <- err
	}()
	dbtest.Await(g.T, "the batch ahead", held)
	answers := make([]chan string, len(requests))
	for i, request := range requests {
		answers[i] = make(chan string, 1)
		go func() {
			answer, err := request()
			if err != nil {
				answer = err.Error()
			}
			answers[i] <- answer
		}()
		dbtest.Eventually(g.T, "the request waits", func() bool { n, _, _ := g.s.Writer.Waiting(board, false); return n == i+1 })
	}
	g.listen()
	release()
	if err := dbtest.Await(g.T, "the batch ahead", ahead); err != nil {
		g.Fatal(err)
	}
	var all []string
	for _, answer := range answers {
		all = append(all, dbtest.Await(g.T, "an answer", answer))
	}
	g.proxy.Heal()
	g.write(what, strings.Join(all, " | "), nil)
}

// setsUp reports whether a statement is not of a batch: a connection begins with it, or the store looks which server it has.
func setsUp(statement string) bool {
	return statement == "" || strings.HasPrefix(statement, "SELECT CONCAT_WS(' ', VERSION()") || strings.HasPrefix(statement, "SET ") && !limits.MatchString(statement) ||
		strings.HasPrefix(statement, "/*M! SET STATEMENT wsrep_sync_wait") || strings.HasPrefix(statement, "SELECT CONCAT_WS(',', @@global.read_only") && !strings.Contains(statement, " FROM ") ||
		strings.HasPrefix(statement, "SELECT @@")
}

// limits is the limit on the time of a reading statement, in both dialects.
var limits = regexp.MustCompile(`(?:SELECT /\*\+ MAX_EXECUTION_TIME\(\d+\) \*/|SET STATEMENT max_statement_time=[0-9.]+ FOR SELECT) `)

// statementsOf splits a packet after each semicolon that is not in a text: joined, they are the packet.
func statementsOf(packet string) (out []string) {
	quoted, from := false, 0
	for i := range len(packet) {
		switch packet[i] {
		case '\'':
			quoted = !quoted
		case ';':
			if !quoted {
				out, from = append(out, packet[from:i+1]), i+1
			}
		}
	}
	if from < len(packet) {
		out = append(out, packet[from:])
	}
	return out
}

// longText is how many bytes of a statement or an answer the golden file has at most.
const longText = 6000

func shortened(text string) string {
	if len(text) <= longText {
		return text
	}
	return fmt.Sprintf("%s … %d bytes, SHA-256 %x", text[:200], len(text), sha256.Sum256([]byte(text)))
}

// difference returns where two texts differ, with the scenario that it is in.
func difference(want, got string) string {
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	scenario, step := "", ""
	for i := range min(len(wanted), len(found)) {
		switch {
		case wanted[i] != found[i]:
			return fmt.Sprintf("line %d, %s, %s\nwant %s\ngot  %s", i+1, scenario, step, wanted[i], found[i])
		case strings.HasPrefix(wanted[i], "=== "):
			scenario = wanted[i]
		case strings.HasPrefix(wanted[i], "--- "):
			step = wanted[i]
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(found), len(wanted))
}

// results returns results as a line.
func results(list []leaderboard.Result) string {
	var out []string
	for _, r := range list {
		text := r.Member + " " + string(r.Status)
		if r.Score != nil {
			text += fmt.Sprint(" ", *r.Score)
		}
		if r.Rule != nil {
			text += " " + r.Rule.Code
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// submit submits to one board.
func (g *golden) submit(c leaderboard.Caller, r leaderboard.SubmitRequest) func() (string, error) {
	return func() (string, error) {
		receipt, err := g.s.Writer.Submit(g.ctx(c), r)
		return fmt.Sprint(results(receipt.Results), ", seq ", receipt.Seq), err
	}
}

// scores submits scores to one board, by a key.
func (g *golden) scores(board string, entries ...leaderboard.Submission) func() (string, error) {
	return g.submit(leaderboard.Caller{Key: "env:write"}, leaderboard.SubmitRequest{Board: board, Entries: entries})
}

// severally submits to several boards.
func (g *golden) severally(r leaderboard.MultiBoardRequest) func() (string, error) {
	return func() (string, error) {
		receipt, err := g.s.Writer.SubmitMultiBoard(g.ctx(leaderboard.Caller{Key: "env:write"}), r)
		var list []leaderboard.Result
		for i := range receipt.Results {
			list = append(list, receipt.Results[i].Result)
		}
		return results(list), err
	}
}

// remove removes an entry.
func (g *golden) remove(r leaderboard.RemoveRequest) func() (string, error) {
	return func() (string, error) {
		receipt, err := g.s.Writer.Remove(g.ctx(leaderboard.Caller{Key: "kadmin", Admin: true}), r)
		return results(receipt.Results), err
	}
}

// held returns the held submissions.
func (g *golden) held() *review.Store { return review.NewStore(g.s.Database(), g.s.Writer) }

// waiting returns the ids of the submissions that wait, the oldest first.
func (g *golden) waiting(board string) []int64 {
	g.Helper()
	b, err := g.s.Boards.Board(g.Context(), board)
	if err != nil {
		g.Fatal(err)
	}
	list, err := g.held().Held(g.Context(), leaderboard.HeldQuery{BoardID: b.ID, State: leaderboard.HeldStateWaiting, Limit: 10})
	if err != nil {
		g.Fatal(err)
	}
	var ids []int64
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// decide decides about a held submission.
func (g *golden) decide(d leaderboard.HeldDecision) func() (string, error) {
	return func() (string, error) {
		h, err := g.held().DecideHeld(g.ctx(leaderboard.Caller{Key: "kadmin", Admin: true}), d)
		return fmt.Sprint(h.State, " ", h.Outcome), err
	}
}

// play begins a play of a member.
func (g *golden) play(board, member string) *leaderboard.PlayID {
	g.Helper()
	b, err := g.s.Boards.Board(g.Context(), board)
	if err != nil {
		g.Fatal(err)
	}
	play, err := plays.NewStore(g.s.Database()).BeginPlay(g.Context(), b, member)
	if err != nil {
		g.Fatal(err)
	}
	return &play.ID
}

// endpoint makes an endpoint that gets events of these kinds.
func (g *golden) endpoint(kinds ...leaderboard.EventKind) {
	g.Helper()
	dbtest.Listen(g, g.dsn, "game", kinds...)
}

// period returns the id of a period by its name.
func (g *golden) period(board string, w leaderboard.Window, name string) int64 {
	g.Helper()
	b, err := g.s.Boards.Board(g.Context(), board)
	if err != nil {
		g.Fatal(err)
	}
	p, err := g.s.Boards.PeriodNamed(g.Context(), b.ID, w, name)
	if err != nil {
		g.Fatal(err)
	}
	return p.ID
}

// sub is a submission of a score.
func sub(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score}
}

// player is a player who calls for a member.
func player(member string) leaderboard.Caller {
	return leaderboard.Caller{Key: "issuer:game", Player: leaderboard.PlayerOwner("issuer:game", member)}
}
