package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// TestVerifyStatus: verify distinguishes a difference from a copy that cannot be compared, also by the exit status.
func TestVerifyStatus(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	run := func(args ...string) (int, string, string) {
		t.Helper()
		return runWith(t, nil, append(args, "--all", "--json", "--mysql-dsn", dsn, "--redis-url", redisURL)...)
	}
	verify := func(want int, contains ...string) {
		t.Helper()
		status, out, errOut := run("verify")
		if status != want {
			t.Errorf("status %d, want %d: %s%s", status, want, out, errOut)
		}
		for _, text := range contains {
			if !strings.Contains(out+errOut, text) {
				t.Errorf("%q is missing in %s%s", text, out, errOut)
			}
		}
	}
	verify(exitUnknown, "leaderboard migrate up")
	if status, _, errOut := runWith(t, nil, "migrate", "up", "--mysql-dsn", dsn); status != exitOK {
		t.Fatal(errOut)
	}
	ids := boardsWithAnEntry(t, dsn, "a", "b")
	if status, _, errOut := run("refresh"); status != exitOK {
		t.Fatal(errOut)
	}
	verify(exitOK, `"checked":1`)

	withStore(t, dsn, func(s *store.Store) { // the log no longer leads from the copy to the database
		submit(t, s, "a", 2)
		if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM changes WHERE period_id = ?", ids[0]); err != nil {
			t.Fatal(err)
		}
	})
	verify(exitUnknown, `"board":"a","window":"all_time","period":"all_time","seq":0,"checked":0,"total":0,"equal":null`, `"error":"`, `"equal":true`, "1 of 2 could not be compared")

	opts, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	defer client.Close()
	keys, err := client.Keys(t.Context(), fmt.Sprintf("lb:{%d}:*:key", ids[1])).Result()
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	if err := client.Del(t.Context(), keys...).Err(); err != nil {
		t.Fatal(err)
	}
	verify(exitFailed, `"board":"b","window":"all_time","period":"all_time","seq":1,"checked":0,"total":1,"detail":"the copy is damaged and is not used","equal":false`, "1 of 2 copies are not what MySQL says", "1 of 2 could not be compared")
}

// withStore opens another store on the server's database.
func withStore(t *testing.T, dsn string, use func(*store.Store)) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	use(s)
}

func submit(t *testing.T, s *store.Store, board string, score int64) {
	t.Helper()
	entries := []leaderboard.Submission{{Member: "ada", Score: score}}
	if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: board, Entries: entries}); err != nil {
		t.Fatal(err)
	}
}

// boardsWithAnEntry makes boards and returns the ids of their periods.
func boardsWithAnEntry(t *testing.T, dsn string, names ...string) (periods []int64) {
	t.Helper()
	withStore(t, dsn, func(s *store.Store) {
		for _, name := range names {
			if _, _, err := s.Boards.PutBoard(t.Context(), name, leaderboard.Rules{}); err != nil {
				t.Fatal(err)
			}
			submit(t, s, name, 1)
			l, err := s.Boards.Current(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			periods = append(periods, l.Periods[0].ID)
		}
	})
	return periods
}
