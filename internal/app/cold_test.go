package app

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

const (
	coldEntries = 12_000
	coldReaders = 32
)

// fillCold submits entries to a board whose periods are never in memory: member number i has rank i + 1.
func fillCold(a *testApp, board, rules string, entries int) {
	a.T.Helper()
	a.Ask(201, "PUT", "/v1/boards/"+board, rules)
	for from := 0; from < entries; from += 1000 {
		var body strings.Builder
		for i := from; i < min(from+1000, entries); i++ {
			fmt.Fprintf(&body, `,{"member":"m%d","score":%d}`, i, entries-i)
		}
		a.Ask(200, "POST", "/v1/boards/"+board+"/scores", `{"entries":[`+body.String()[1:]+`]}`)
	}
}

// cold are the answers that many readers of one board got at once.
type cold struct{ answered, refused atomic.Int64 }

// sendAtOnce has many readers ask for the rank of a member each. Each answer is right, or is a refusal that says when to ask again.
func sendAtOnce(a *testApp, board string) *cold {
	var got cold
	var readers sync.WaitGroup
	for i := range coldReaders {
		member := (i*977 + 13) % coldEntries
		readers.Go(func() {
			resp, err := http.Get(fmt.Sprintf("%s/v1/boards/%s/members/m%d", a.URL, board, member))
			if err != nil {
				a.T.Error(err)
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				a.T.Error(err)
			}
			switch {
			case resp.StatusCode == http.StatusOK && strings.Contains(string(body), fmt.Sprintf(`"rank":%d,`, member+1)):
				got.answered.Add(1)
			case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
				got.refused.Add(1)
			default:
				a.T.Errorf("member m%d: %d %s", member, resp.StatusCode, body)
			}
		})
	}
	readers.Wait()
	return &got
}

// scansAtOnce returns how many statements count entries of a period by scanning at this moment.
func scansAtOnce(t *testing.T, db *sql.DB, period int64) (n int) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE ?",
		fmt.Sprintf("SELECT%%(SELECT COUNT(*)%%period_id = %d AND%%", period)).Scan(&n)
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestColdBoardHarmsNobody: while the rank index of a board is missing and cannot be built yet, one batch of its readers at a time
// is answered by scanning, the others get 503 with Retry-After, and another board without an index answers each reader. Once the
// index exists, all readers are answered, also if the rules keep the board out of the memory. No statement hits its limit: each
// answer of this board is right or a refusal (promise C7).
func TestColdBoardHarmsNobody(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	first := startReady(t, dsn, "")
	fillCold(first, "big", `{"resident":"never"}`, coldEntries)
	fillCold(first, "small", `{"resident":"never"}`, 3000)
	big := period(t, first, "big")
	first.stop()
	withDatabase(t, dsn, func(db *sql.DB) {
		forget := func() {
			if _, err := db.ExecContext(t.Context(), "DELETE FROM rank_indexes"); err != nil {
				t.Fatal(err)
			}
		}
		forget()
		other, err := db.Conn(t.Context()) // as another server that builds the index
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var got int
		err = other.QueryRowContext(t.Context(), fmt.Sprintf("SELECT GET_LOCK(CONCAT('leaderboard-index-', LEFT(SHA2(DATABASE(), 256), 20), '-', %d), 0)", big.ID)).Scan(&got)
		if err != nil || got != 1 {
			t.Fatal(got, err)
		}
		a := startReady(t, dsn, "", func(c *Config) { c.ReadWait = 2 * time.Second })
		ctx, done := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		beside.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if status, body := a.Get(fmt.Sprint("/v1/boards/small/members/m", i%3000)); status != http.StatusOK {
					t.Errorf("the other board: %s", body)
				}
				if n := scansAtOnce(t, db, big.ID); n > 1 {
					t.Errorf("%d scans of one period at once", n)
				}
			}
		})
		found := sendAtOnce(a, "big")
		done()
		beside.Wait()
		if found.answered.Load() == 0 || a.store.Entries.Reads().Scans == 0 {
			t.Errorf("%d answers by %d scans, %d refusals while there is no index", found.answered.Load(), a.store.Entries.Reads().Scans, found.refused.Load())
		}
		if _, err := other.ExecContext(t.Context(), "DO RELEASE_ALL_LOCKS()"); err != nil {
			t.Fatal(err)
		}
		whole := func() string {
			if found := sendAtOnce(a, "big"); found.refused.Load() > 0 {
				return fmt.Sprint(found.refused.Load(), " readers are refused")
			}
			return ""
		}
		apptest.Eventually(t, whole)

		a.Ask(200, "PUT", "/v1/boards/big", `{"resident":"always"}`)
		apptest.Eventually(t, func() string {
			if a.Ask(200, "GET", "/v1/boards/big/members/m1", ""); a.resident.Holds(big.ID) {
				return ""
			}
			return "it is not in memory"
		})
		forget()
		a.Ask(200, "PUT", "/v1/boards/big", `{"resident":"never"}`)
		apptest.Eventually(t, func() string {
			if whole(); a.resident.Holds(big.ID) {
				return "it does not leave the memory"
			}
			return ""
		})
		apptest.Eventually(t, whole)
	})
}
