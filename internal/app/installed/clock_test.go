package installed_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/plays"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestOneClock: every moment that the store writes into any table comes from the clock that Config.Clock makes of the
// database's, so a test that sets the clock sets it for all that is compared with it later.
func TestOneClock(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		now := time.Date(2036, time.February, 29, 23, 59, 59, 0, time.UTC)
		s := open(t, dsn, func(c *store.Config) {
			c.IndexMinEntries = 1
			c.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.MicrosOf(now) })
		})
		db := dbtest.Connect(t, dsn)
		dbtest.MustExec(t, db, "UPDATE table_versions SET changed_at = '2036-02-29 23:59:59' WHERE version = 0") // rows that a migration wrote
		writeEverywhere(t, s)
		written := map[string]bool{}
		for _, c := range momentColumns(t, db) {
			var earliest, latest sql.NullTime
			query := fmt.Sprintf("SELECT MIN(`%s`), MAX(`%[1]s`) FROM `%s`", c[1], c[0])
			if err := db.QueryRowContext(t.Context(), query).Scan(&earliest, &latest); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if !earliest.Valid {
				continue
			}
			written[c[0]] = true
			if earliest.Time.Before(now) || latest.Time.After(now.Add(time.Second)) { // each created_time is 1 µs after the last
				t.Errorf("%s.%s holds %s to %s, the clock stands at %s", c[0], c[1], earliest.Time, latest.Time, now)
			}
		}
		if len(written) < 15 {
			t.Errorf("moments were written into %d tables, want 15: %v", len(written), written)
		}
	})
}

// writeEverywhere leaves rows in every table that has moments, except tables whose rows are gone when a call has ended.
func writeEverywhere(t *testing.T, s *whole) {
	t.Helper()
	ctx := t.Context()
	ref := dbtest.MakeBoard(t, s.Store, "kept", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
	dbtest.MakeBoard(t, s.Store, "deleted", leaderboard.Rules{})
	_, submitted := s.Writer.Submit(ctx, dbtest.One("kept", "key", "m", 5))
	_, _, changed := s.Boards.PutBoard(ctx, "kept", leaderboard.Rules{Title: "changed", Windows: ref.Rules.Windows})
	_, _, profiled := s.people().PutProfile(ctx, people.Profile{Member: "m", DisplayName: "M"})
	_, indexed := s.Indexes.Build(ctx, ref, store.IndexBuild{Reason: leaderboard.RunReasonCommand})
	_, befriended := s.friends().PutFriends(ctx, "m", []string{"n"})
	_, hidden := s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: "kept", Member: "n", Reason: "test"})
	tokens := players.NewStore(s.Database())
	_, barred := tokens.BarMember(ctx, "m", 0)
	_, _, issued := tokens.PutIssuer(ctx, "game", players.IssuerRules{Issuer: "i", Audience: "a", JWKSURL: "https://i.example/"}.WithDefaults())
	signing := tokens.RenewSigning(ctx)
	_, begun := plays.NewStore(s.Database()).BeginPlay(ctx, leaderboard.Board{ID: ref.BoardID, Name: ref.Board}, "m")
	deleted := s.Boards.DeleteBoard(ctx, "deleted")
	if err := errors.Join(barred, issued, signing, begun, befriended, submitted, changed, profiled, indexed, hidden, deleted); err != nil {
		t.Fatal(err)
	}
}

// momentColumns lists table and column of every moment in the schema that is a record of when something happened.
func momentColumns(t *testing.T, db *sql.DB) (columns [][2]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT c.table_name, c.column_name FROM information_schema.columns c"+
		" JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'"+
		" WHERE c.table_schema = DATABASE() AND c.data_type IN ('datetime', 'timestamp') AND c.table_name <> 'goose_db_version'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains([]string{"starts_at", "ends_at"}, c[1]) {
			columns = append(columns, c)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(columns) < 14 {
		t.Fatalf("%d columns, %v", len(columns), err)
	}
	return columns
}
