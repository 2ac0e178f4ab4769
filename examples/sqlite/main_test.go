package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard/client"
	"leaderboard/httpapi"
	"leaderboard/internal/app"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestSecondStore: the file is equal to the board, entry by entry and in order, after the program was killed at random
// moments during writes, hides, removals and erasures; after the database was restored from a backup and changed in another
// way; after the log was pruned while the program was away; and after the board was deleted and made again.
func TestSecondStore(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "sqlite")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, dsn(t), program)
			kills := testenv.Size(10, 300)

			w.killed(kills, w.play())
			w.equal()

			w.backup()
			w.killed(2, w.play())
			w.equal() // so the file has what the restore takes back
			w.restore()
			w.killed(kills, w.play())
			w.equal()
			w.startedOver("of another history")

			w.play()()
			w.prune()
			w.equal()
			w.startedOver("not kept any more")

			w.must(w.client.DeleteBoard(t.Context(), board))
			w.makeBoard()
			w.killed(kills, w.play())
			w.equal()
			w.startedOver("of another history")
		})
	}
}

const board = "arcade"

// world is a server, its database, and the program that follows the board.
type world struct {
	*testing.T
	client        *client.Client
	url           string
	db            *sql.DB
	program, file string
	said          *apptest.Buffer // by all runs of the program since startedOver
	taken         atomic.Int64    // requests of the writers that are done
}

func begin(t *testing.T, dsn, program string) *world {
	t.Helper()
	cfg := app.Defaults()
	cfg.MySQLDSN, cfg.Listen, cfg.Migrate = dsn, "127.0.0.1:0", true
	cfg.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: apptest.AdminKey}}
	w := &world{T: t, program: program, file: filepath.Join(t.TempDir(), "board.db"), said: &apptest.Buffer{}}
	a, err := app.New(t.Context(), cfg, app.NewLogger(&apptest.Buffer{}, &cfg))
	w.must(err)
	w.must(a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), apptest.MaxWait)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	w.url = "http://" + a.Addr()
	(&apptest.Server{T: t, URL: w.url}).Await("/readyz", http.StatusOK)
	w.client, err = client.New(w.url, client.WithKey(apptest.AdminKey), client.WithMaxWait(apptest.MaxWait))
	w.must(err)
	w.db, err = store.Connect(dsn)
	w.must(err)
	t.Cleanup(func() { _ = w.db.Close() })
	w.makeBoard()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%v\nthe program said: %s", err, w.said.String())
	}
}

func (w *world) makeBoard() {
	w.Helper()
	_, _, err := w.client.PutBoard(w.Context(), board, leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 8}}},
	})
	w.must(err)
}

// play starts writers and returns the function that ends them. They make at least 100 requests.
func (w *world) play() (end func()) {
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					if n >= 50 {
						return
					}
				default:
				}
				if err := w.write(); err != nil && !errors.Is(err, leaderboard.ErrNotRanked) && !errors.Is(err, leaderboard.ErrNotHidden) {
					w.Error(err)
					return
				}
				w.taken.Add(1)
			}
		})
	}
	return func() { close(stop); writers.Wait() }
}

// write makes a random change.
func (w *world) write() error {
	member := fmt.Sprintf("m%d", rand.IntN(60))
	var err error
	switch rand.IntN(20) {
	case 0:
		_, err = w.client.HideMember(w.Context(), board, member, "test", client.HideOptions{})
	case 1, 2:
		err = w.client.RestoreMember(w.Context(), board, member, "", client.HideOptions{})
	case 3:
		_, err = w.client.RemoveMember(w.Context(), board, member, client.RemoveOptions{})
	case 4:
		_, err = w.client.ForgetMember(w.Context(), member)
	default:
		scores := make([]leaderboard.Submission, 1+rand.IntN(10))
		for i := range scores {
			scores[i] = leaderboard.Submission{Member: fmt.Sprintf("m%d", rand.IntN(60)), Score: rand.Int64N(50), Fields: map[string]int64{"level": rand.Int64N(3)}}
		}
		_, err = w.client.Submit(w.Context(), board, scores)
	}
	return err
}

// start starts the program. It has only the file and the key.
func (w *world) start() *exec.Cmd {
	w.Helper()
	cmd := exec.Command(w.program, "-server", w.url, "-board", board, "-file", w.file)
	cmd.Env = append(os.Environ(), "LEADERBOARD_KEY="+apptest.AdminKey)
	cmd.Stderr = w.said
	w.must(cmd.Start())
	return cmd
}

// kill is kill -9.
func (w *world) kill(cmd *exec.Cmd) {
	w.Helper()
	w.must(cmd.Process.Kill())
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		w.Fatalf("the program ended by itself: %v; it said: %s", err, w.said.String())
	}
}

// killed kills the program n times, each after a random number of the writers' requests, and then ends the writers.
func (w *world) killed(n int, end func()) {
	w.Helper()
	defer end()
	for range n {
		cmd := w.start()
		until := w.taken.Load() + rand.Int64N(100)
		apptest.Eventually(w.T, func() string {
			if done := w.taken.Load(); done < until && !w.Failed() {
				return fmt.Sprintf("%d of %d requests are done", done, until)
			}
			return ""
		})
		w.kill(cmd)
	}
}

// equal runs the program until the file is equal to the board, in the board's order.
func (w *world) equal() {
	w.Helper()
	cmd := w.start()
	defer w.kill(cmd)
	apptest.Eventually(w.T, func() string {
		var want []string
		for e, err := range w.client.ExportEntries(w.Context(), board, client.ExportQuery{}) {
			w.must(err)
			want = append(want, fmt.Sprint(e.Member, " ", e.Score, " ", e.Tiebreak, " ", int64(leaderboard.MicrosOf(e.CreatedTime))))
		}
		if len(want) == 0 {
			w.Fatal("the board is empty")
		}
		got := w.entries()
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				return fmt.Sprintf("%d entries, want %d; from rank %d on %q, want %q; the program said: %s", len(got), len(want), i+1,
					got[min(i, len(got)):], want[min(i, len(want)):], w.said.String())
			}
		}
		return ""
	})
}

// entries returns the entries of the file, best first.
func (w *world) entries() (out []string) {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+w.file+"?_pragma=busy_timeout(60000)")
	w.must(err)
	defer db.Close()
	rows, err := db.QueryContext(w.Context(), "SELECT member, score, tiebreak, created_time FROM entries WHERE period = 'all_time' ORDER BY score DESC, tiebreak DESC, created_time, member")
	if err != nil { // the program has not made the table yet
		return []string{err.Error()}
	}
	defer rows.Close()
	for rows.Next() {
		var member string
		var score, tiebreak, created int64
		w.must(rows.Scan(&member, &score, &tiebreak, &created))
		out = append(out, fmt.Sprint(member, " ", score, " ", tiebreak, " ", created))
	}
	w.must(rows.Err())
	return out
}

// startedOver fails the test unless the program has started over for a reason since it was last asked.
func (w *world) startedOver(reason string) {
	w.Helper()
	if said := w.said.String(); !strings.Contains(said, "starts over: ") || !strings.Contains(said, reason) {
		w.Errorf("it did not start over for %q; it said: %s", reason, said)
	}
	w.said = &apptest.Buffer{}
}

// tablesOfBoards are the tables that hold a board's state.
func tablesOfBoards() []string {
	return []string{"boards", "periods", "entries", "changes", "hidden_members", "table_versions"}
}

// backup copies tables next to the originals.
func (w *world) backup() {
	w.Helper()
	for _, table := range tablesOfBoards() {
		_, err := w.db.ExecContext(w.Context(), "CREATE TABLE backup_"+table+" AS SELECT * FROM "+table)
		w.must(err)
	}
}

// restore gives tables the rows of their backup, under the running server.
func (w *world) restore() {
	w.Helper()
	apptest.Eventually(w.T, func() string { // the server's own transactions may be chosen over this one
		if err := w.tryRestore(); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (w *world) tryRestore() error {
	tx, err := w.db.BeginTx(w.Context(), nil)
	if err != nil {
		return err
	}
	for _, table := range tablesOfBoards() {
		for _, statement := range []string{"DELETE FROM " + table, "INSERT INTO " + table + " SELECT * FROM backup_" + table} {
			if _, err := tx.ExecContext(w.Context(), statement); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
	}
	return tx.Commit()
}

// prune deletes the change log, as happens when a program is away for longer than a day.
func (w *world) prune() {
	w.Helper()
	_, err := w.db.ExecContext(w.Context(), "DELETE FROM changes")
	w.must(err)
}
