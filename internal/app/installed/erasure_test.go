package installed_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/plays"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

const forgotten, forgottenName = "gone-with-the-wind", "Scarlett"

// TestForgetIsRestartable kills an erasure in the middle and has another process finish it: the ranks close up in every period,
// closed ones too, and no table knows the member afterwards (promise A8).
func TestForgetIsRestartable(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset, commits atomic.Int64
		ctx, kill := context.WithCancel(t.Context())
		defer kill()
		configure := func(c *store.Config) {
			dbtest.ClockBy(&offset)(c)
			c.OnCommit = func(leaderboard.PeriodRef, leaderboard.Commit) {
				if commits.Add(-1) == 0 {
					kill() // here and not in another goroutine, which may come too late
				}
			}
		}
		s := open(t, dsn, configure)
		dbtest.Listen(t, dsn, "game", leaderboard.EventKindPeriodClosed, leaderboard.EventKindMemberHidden, leaderboard.EventKindMemberRestored)
		boards := fillForErasure(t, s, &offset)
		before := forgottenPlaces(t, s, boards)
		if n := dbtest.Count(t, dbtest.Connect(t, dsn), "submissions WHERE member = '"+forgotten+"'"); n < 18 {
			t.Fatalf("%d submissions are recorded", n)
		}
		if n := dbtest.Count(t, dbtest.Connect(t, dsn), "outbox_members WHERE member = '"+forgotten+"'"); n < 15 {
			t.Fatalf("%d events name the member", n)
		}

		if n := dbtest.Count(t, dbtest.Connect(t, dsn), "held WHERE member = '"+forgotten+"'"); n != 15 {
			t.Fatalf("%d submissions of the member are held", n)
		}
		if n := dbtest.Count(t, dbtest.Connect(t, dsn), "entry_metadata WHERE member = '"+forgotten+"'"); n < 18 {
			t.Fatalf("%d rows have metadata of the member", n)
		}
		if _, _, err := s.Boards.PutBoard(t.Context(), boards[2].Name, withoutMetadata(boards[2].Rules)); err != nil { // whose entries then go without it
			t.Fatal(err)
		}
		commits.Store(5) // the fifth removal from now on
		f, err := s.Erasures.Forget(ctx, forgotten, "boss")
		if err != nil || f.Done {
			t.Fatalf("killed: %+v, %v", f, err)
		}
		if half := forgottenPlaces(t, s, boards); len(half) == 0 || len(half) >= len(before) {
			t.Fatalf("killed with the member in %d of %d periods, want some of them", len(half), len(before))
		}

		other := open(t, dsn, configure)
		if err := other.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := forgottenPlaces(t, other, boards); len(left) > 0 {
			t.Errorf("left in %v", left)
		}
		dbtest.CheckForgotten(t, dbtest.Connect(t, dsn), forgotten, forgottenName)
		if f, err := other.Erasures.Forget(t.Context(), forgotten, "boss"); err != nil || !f.Done || f.Entries != 0 {
			t.Errorf("once more: %+v, %v", f, err)
		}
	})
}

// TestForgetIsKilledAnywhere kills an erasure at each of its statements. Wherever it was killed, the next sweep of another process
// finishes it: no table knows the member afterwards, and one random name stands for it in all records.
func TestForgetIsKilledAnywhere(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s, other, db := open(t, through, nil), open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.Listen(t, dsn, "game", leaderboard.EventKindMemberHidden)
		b, _, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}})
		if err != nil {
			t.Fatal(err)
		}
		killed := 0
		for at, done := 1, false; !done; at++ {
			recordMember(t, other, db, b.ID)
			dbtest.MustExec(t, db, "DELETE FROM audit WHERE member LIKE 'erased-%'")
			dbtest.MustExec(t, db, "DELETE FROM submissions WHERE member LIKE 'erased-%'")
			ctx, kill := context.WithCancel(t.Context())
			var n atomic.Int64
			p.FaultBy(func(string) dbtest.Fault {
				if n.Add(1) < int64(at) {
					return dbtest.FaultPass
				}
				kill()
				return dbtest.FaultCutBefore
			})
			_, err := s.Erasures.Forget(ctx, forgotten, "boss")
			p.Heal()
			if done = ctx.Err() == nil; !done {
				killed++
			}
			kill()
			if begun := dbtest.Count(t, db, "erasures") > 0; begun || err == nil {
				if err := other.Housekeeping.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else if _, err := other.Erasures.Forget(t.Context(), forgotten, "boss"); err != nil { // nothing was done, so it is asked for again
				t.Fatal(err)
			}
			dbtest.CheckForgotten(t, db, forgotten, forgottenName)
			checkAlias(t, db, fmt.Sprint("killed at statement ", at))
		}
		if killed < 10 {
			t.Errorf("killed at %d statements only", killed)
		}
	})
}

// recordMember lets there be something of the member in each table.
func recordMember(t *testing.T, s *whole, db *sql.DB, boardID int64) {
	t.Helper()
	entries := []leaderboard.Submission{{Member: forgotten, Score: 5, Metadata: `{"by":"` + forgotten + `"}`}, {Member: "stays", Score: 5}}
	_, err1 := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries})
	_, err2 := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "b", Member: forgotten, Reason: forgotten + " is a bot", Actor: "boss"})
	_, err3 := s.friends().AddFriends(t.Context(), forgotten, []string{"stays"})
	_, _, err4 := s.people().PutProfile(t.Context(), people.Profile{
		Member: forgotten, DisplayName: forgottenName, AvatarURL: "https://example.org/" + forgottenName, Attributes: `{"name":"` + forgottenName + `"}`,
	})
	_, err8 := s.people().ResetName(t.Context(), people.NameReset{Member: forgotten, Reason: forgottenName + " is no name", Actor: "boss"})
	_, _, err7 := s.people().PutProfile(t.Context(), people.Profile{Member: forgotten, DisplayName: "other"})
	_, err5 := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "b", Member: "stays", Reason: "another one", Actor: "boss"})
	_, err6 := players.NewStore(s.Database()).BarMember(t.Context(), forgotten, 0)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Count(t, db, fmt.Sprintf("submissions WHERE board_id = %d AND member = '%s'", boardID, forgotten)); n == 0 {
		dbtest.MustExec(t, db, "INSERT INTO submissions (board_id, recorded_at, id, member, actor, request_id, result) VALUES (?, NOW(6), 1, ?, '', '', x'01000a02')", boardID, forgotten)
	}
}

// checkAlias checks that the records have one random name for the member, and that records of other members keep their names and
// reasons.
func checkAlias(t *testing.T, db *sql.DB, what string) {
	t.Helper()
	names := map[string]bool{}
	rows, err := db.QueryContext(t.Context(), "SELECT member FROM audit WHERE member LIKE 'erased-%' UNION ALL SELECT member FROM submissions WHERE member LIKE 'erased-%'")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names[name] = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 || n < 3 {
		t.Errorf("%s: %d records under the names %v, want one", what, n, names)
	}
	if n := dbtest.Count(t, db, "audit WHERE action = 'member.erase' AND member LIKE 'erased-%'"); n != 1 {
		t.Errorf("%s: %d records say that a member was erased", what, n)
	}
	if n := dbtest.Count(t, db, "audit WHERE member = 'stays' AND after_json LIKE '%another one%'"); n == 0 {
		t.Errorf("%s: the records of another member are gone", what)
	}
}

// fillForErasure plays on three boards for six hours, and lets the member be hidden on one of them and be the friend of
// many.
func fillForErasure(t *testing.T, s *whole, offset *atomic.Int64) []leaderboard.Board {
	t.Helper()
	var boards []leaderboard.Board
	most := int64(100)
	for i := range 3 {
		b, _, err := s.Boards.PutBoard(t.Context(), fmt.Sprint("forget", i), leaderboard.Rules{
			Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay},
			Record: leaderboard.RecordAll, Metadata: &leaderboard.Metadata{MaxBytes: 100}, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		boards = append(boards, b)
	}
	for range 6 {
		for _, b := range boards {
			request := leaderboard.SubmitRequest{Board: b.Name, Entries: []leaderboard.Submission{
				{Member: "first", Score: 9},
				{Member: forgotten, Score: 5, Metadata: `{"by":"` + forgotten + `"}`},
				{Member: "last", Score: 1},
				{Member: forgotten, Score: 101, Metadata: `{"by":"` + forgotten + `"}`},
			}}
			if _, err := s.Writer.Submit(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		offset.Add(int64(time.Hour))
	}
	_, err1 := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: boards[1].Name, Member: forgotten, Reason: "test"})
	_, err2 := s.friends().AddFriends(t.Context(), forgotten, []string{"first"})
	_, _, err3 := s.people().PutProfile(t.Context(), people.Profile{Member: forgotten, DisplayName: "Scarlett"})
	_, err4 := players.NewStore(s.Database()).BarMember(t.Context(), forgotten, 0)
	_, err5 := plays.NewStore(s.Database()).BeginPlay(t.Context(), boards[0], forgotten)
	_, err6 := plays.NewStore(s.Database()).BeginPlay(t.Context(), boards[2], forgotten)
	err := errors.Join(err1, err2, err3, err4, err5, err6)
	for i := range 1100 { // more than one statement deletes
		if err == nil {
			_, err = s.friends().AddFriends(t.Context(), fmt.Sprint("fan", i), []string{forgotten, "first"})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return boards
}

// forgottenPlaces returns the periods in which the member is ranked. In all others it checks that every other member has its
// place.
func forgottenPlaces(t *testing.T, s *whole, boards []leaderboard.Board) []string {
	t.Helper()
	var found []string
	for _, b := range boards {
		periods, err := s.Boards.Periods(t.Context(), b.ID, "", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range periods {
			ref := p.Ref(&b)
			page, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			ranks := ""
			for _, e := range page.Entries {
				ranks += fmt.Sprint(e.Strict, " ", e.Member, "; ")
			}
			switch {
			case int64(len(page.Entries)) != page.Total || page.Total == 0 && p.LastSeq > 0:
				t.Errorf("%s %s has %d entries, %d of them shown", b.Name, p.Name(), page.Total, len(page.Entries))
			case strings.Contains(ranks, forgotten):
				found = append(found, b.Name+" "+p.Name())
			case p.LastSeq > 0 && ranks != "1 first; 2 last; ":
				t.Errorf("%s %s: %s", b.Name, p.Name(), ranks)
			}
		}
	}
	return found
}

func withoutMetadata(r leaderboard.Rules) leaderboard.Rules {
	r.Metadata = nil
	return r
}
