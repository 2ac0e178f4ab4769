package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// FuzzSubmit: whatever is sent to POST …/scores is refused as documented, or means exactly what encoding/json reads in
// it.
func FuzzSubmit(f *testing.F) {
	for _, b := range badBodies() {
		if len(b.ask.body) < 500 {
			f.Add([]byte(b.ask.body))
		}
	}
	f.Add([]byte(`{"entries":[{"member":"m","score":-0},{"score":9223372036854775807,"member":"\u00e9\ud83d\ude00","tiebreak":-9223372036854775808}]}`))
	f.Add([]byte(`{"entries":[{"member":"m","score":1,"tiebreak":null,"created_time":"2020-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"entries":[{"member":"m","score":1,"fields":{"level":7,"":-1,"~/":9223372036854775807}}]}`))
	e := newEnv(f)
	w := &recordingWriter{}
	e.api.handlers.scores.writer = w
	f.Fuzz(func(t *testing.T, body []byte) {
		w.entries = nil
		r := httptest.NewRequest(http.MethodPost, "/v1/boards/b/scores", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+adminKey)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		e.api.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK {
			if rec.Code != http.StatusBadRequest && rec.Code != http.StatusRequestEntityTooLarge {
				t.Fatalf("answers %d", rec.Code)
			}
			if reply := (reply{t, rec.Code, rec.Header(), rec.Body.Bytes(), nil}); reply.problem().Type == "" || w.entries != nil {
				t.Fatal("refused and let through")
			}
			return
		}
		var want struct {
			Entries []struct {
				Member          string
				Score, Tiebreak json.Number
				Fields          map[string]json.Number
			}
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil || len(want.Entries) != len(w.entries) {
			t.Fatalf("accepted, though encoding/json says %v and finds %d entries", err, len(want.Entries))
		}
		for i, got := range w.entries {
			if score, err := want.Entries[i].Score.Int64(); err != nil || score != got.Score || want.Entries[i].Member != got.Member {
				t.Fatalf("entry %d is %+v, want %+v", i, got, want.Entries[i])
			}
			if len(got.Fields) != len(want.Entries[i].Fields) {
				t.Fatalf("entry %d has the fields %v, want %v", i, got.Fields, want.Entries[i].Fields)
			}
			for name, v := range got.Fields {
				if n, err := want.Entries[i].Fields[name].Int64(); err != nil || n != v {
					t.Fatalf("entry %d has %q %d", i, name, v)
				}
			}
			if got.Tiebreak != nil {
				if tiebreak, err := want.Entries[i].Tiebreak.Int64(); err != nil || tiebreak != *got.Tiebreak {
					t.Fatalf("entry %d has the tiebreak %d", i, *got.Tiebreak)
				}
			}
		}
	})
}

type recordingWriter struct {
	fixedWriter
	entries []leaderboard.Submission
}

func (w *recordingWriter) Submit(_ context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	w.entries = r.Entries
	return leaderboard.Receipt{}, nil
}

// FuzzPutBoard: rules are decoded without a failure that is not the sender's.
func FuzzPutBoard(f *testing.F) {
	for _, b := range badBoards() {
		f.Add([]byte(b.ask.body))
	}
	e := newEnv(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		e.fake.Model = storetest.NewModel()
		r := httptest.NewRequest(http.MethodPut, "/v1/boards/b", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+adminKey)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		e.api.ServeHTTP(rec, r)
		b, err := e.fake.Board(t.Context(), "b")
		switch rec.Code {
		case 201:
			if err != nil || b.Rules.Check() != nil {
				t.Fatalf("created a board with %+v, %v", b.Rules, err)
			}
		case 400, 422, 413:
			(reply{t, rec.Code, rec.Header(), rec.Body.Bytes(), nil}).problem()
			if err == nil {
				t.Fatal("refused and created")
			}
		default:
			t.Fatalf("answers %d", rec.Code)
		}
	})
}

// FuzzQuery: a query that is let through has the meaning that net/url gives it.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "limit=1", "limit=1&offset=2", "limit=%31", "limit=1&limit=2", "limit=1;offset=2", "&&limit=1&", "limit", "=", "mode=a+b", "cursor=%ff"} {
		f.Add(s)
	}
	allowed := common("limit", "offset", "cursor")
	f.Fuzz(func(t *testing.T, raw string) {
		var q query
		if q.parse(raw, allowed) != nil {
			return
		}
		want, err := url.ParseQuery(raw)
		if err != nil && !strings.Contains(raw, ";") {
			t.Fatalf("%q is let through: %s", raw, err)
		}
		for name, values := range want {
			if got, ok := q.get(name); !ok || len(values) != 1 || got != values[0] {
				t.Fatalf("%q: %s is %q, want %q", raw, name, got, values)
			}
		}
	})
}

// FuzzCursor: a cursor comes back as what it was made of, for its own list only; no other text is a cursor that could
// do harm.
func FuzzCursor(f *testing.F) {
	ref := &leaderboard.PeriodRef{Incarnation: 7}
	key := string(rank.Codec{}.Key(leaderboard.Entry{Member: "é", Score: -1, CreatedTime: leaderboard.MaxTime}))
	f.Add(entriesOf(ref).cursor(key), int64(7))
	f.Add("AAAA", int64(1))
	f.Fuzz(func(t *testing.T, s string, id int64) {
		if after, ok := afterKey(&leaderboard.PeriodRef{Incarnation: id}, s); ok {
			e, err := rank.Codec{}.Entry(rank.Key(after))
			if err != nil || e.CreatedTime < leaderboard.MinTime || e.CreatedTime > leaderboard.MaxTime || leaderboard.CheckMember(e.Member) != nil {
				t.Fatalf("%q continues after %+v, %v", s, e, err)
			}
		}
		of := list{"x", id}
		made := of.cursor(s)
		if len(made) > maxCursor {
			return
		}
		if got, ok := of.after(made); s != "" && (!ok || got != s) {
			t.Fatalf("%q comes back as %q, %v", s, got, ok)
		}
		if _, ok := (list{"x", id + 1}).after(made); ok {
			t.Fatalf("%q is a cursor of another list", made)
		}
	})
}

// TestAfterKey: the check on cursors agrees with the sort key of package rank.
func TestAfterKey(t *testing.T) {
	ref := &leaderboard.PeriodRef{Incarnation: 7}
	entry := leaderboard.Entry{Member: strings.Repeat("m", leaderboard.MaxMember), Score: 5, Tiebreak: -5, CreatedTime: 1}
	for _, change := range []struct {
		name string
		do   func(*leaderboard.Entry)
		ok   bool
	}{
		{"good", func(*leaderboard.Entry) {}, true},
		{"last time", func(e *leaderboard.Entry) { e.CreatedTime = leaderboard.MaxTime }, true},
		{"after the last time", func(e *leaderboard.Entry) { e.CreatedTime = leaderboard.MaxTime + 1 }, false},
		{"before 1970", func(e *leaderboard.Entry) { e.CreatedTime = -1 }, false},
		{"long member", func(e *leaderboard.Entry) { e.Member += "m" }, false},
		{"no member", func(e *leaderboard.Entry) { e.Member = "" }, false},
		{"member not UTF-8", func(e *leaderboard.Entry) { e.Member = "\xff" }, false},
	} {
		e := entry
		change.do(&e)
		key := string(rank.Codec{}.Key(e))
		got, ok := afterKey(ref, entriesOf(ref).cursor(key))
		if ok != change.ok || (ok && got != key) {
			t.Errorf("%s: %q, %v", change.name, got, ok)
		}
	}
}
