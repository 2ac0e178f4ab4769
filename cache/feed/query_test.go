package feed

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestQuery: Query returns a revision that a statement showed after the call. It does not make the feed watch the period,
// and does not count as an answer of the database for Age.
func TestQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, d := start(t, Options{})
		ask := func(id int64, want leaderboard.Revision, wantOK bool) {
			t.Helper()
			if r, ok := f.Query(t.Context(), id); r != want || ok != wantOK {
				t.Errorf("%+v, %t, want %+v, %t", r, ok, want, wantOK)
			}
		}
		ask(1, leaderboard.Revision{}, false)
		for seq := range int64(5) {
			ask(1, d.set(1, seq+1), true)
		}
		time.Sleep(time.Second)
		asked := d.count()
		time.Sleep(time.Minute)
		if n := d.count() - asked; n != 0 {
			t.Errorf("%d statements after the last question", n)
		}
		if age := f.Age(); age != 0 {
			t.Errorf("periods that are read were asked about %v ago, want never", age)
		}
		r := d.set(1, 9)
		f.Judge(1, r)
		ask(1, r, true)
		for range 10 { // it is read at the same time
			time.Sleep(100 * time.Millisecond)
			f.Judge(1, r)
			ask(1, r, true)
		}
		d.answer(time.Millisecond, errors.New("the database is away"))
		ask(1, leaderboard.Revision{}, false)
		d.answer(time.Hour, nil)
		began := time.Now()
		ask(1, leaderboard.Revision{}, false)
		if took := time.Since(began); took > 250*time.Millisecond {
			t.Errorf("it took %v to hear nothing", took)
		}
	})
}
