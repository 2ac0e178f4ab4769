package records

import (
	"fmt"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkActivity counts as many records as a question reads at most, of a board that has more, and runs a race of ten members.
//
//	bin/testenv go test ./features/records -run '^$' -bench Activity -benchtime 10x
func BenchmarkActivity(b *testing.B) {
	s := serve(b, testenv.MySQL(b), nil)
	ref := dbtest.MakeBoard(b, s, "b", leaderboard.Rules{Record: leaderboard.RecordAll})
	const each, members = 1000, 50_000
	for i := range 3 * leaderboard.MaxActivityRecords / 2 / each {
		list := make([]leaderboard.Submission, each)
		for j := range list {
			list[j] = leaderboard.Submission{Member: fmt.Sprint("m", (i*each+j)%members), Score: int64(i)}
		}
		if _, err := s.Writer.Submit(b.Context(), leaderboard.SubmitRequest{Board: "b", Entries: list}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("hours", func(b *testing.B) {
		q := ActivityQuery{BoardID: ref.BoardID, Window: leaderboard.WindowAllTime, Hours: leaderboard.MaxActivityHours, Records: leaderboard.MaxActivityRecords}
		for b.Loop() {
			if a, err := kept(s).Activity(b.Context(), q); err != nil || !a.Partial {
				b.Fatalf("%+v, %v", a, err)
			}
		}
	})
	b.Run("race", func(b *testing.B) {
		q := RaceQuery{PeriodID: ref.ID}
		for i := range leaderboard.MaxRunners {
			q.Members = append(q.Members, fmt.Sprint("m", i))
		}
		for b.Loop() {
			if r, err := kept(s).Race(b.Context(), q); err != nil || len(r.Moments) == 0 {
				b.Fatalf("%+v, %v", r, err)
			}
		}
	})
}
