package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// FuzzSubmit: whatever is sent to POST …/scores is refused as documented, or means exactly what encoding/json reads in
// it.
func FuzzSubmit(f *testing.F) {
	for _, b := range badBodies() {
		if len(b.ask.Body) < 500 {
			f.Add([]byte(b.ask.Body))
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
		r.Header.Set("Authorization", "Bearer "+apitest.AdminKey)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		e.api.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK {
			if rec.Code != http.StatusBadRequest && rec.Code != http.StatusRequestEntityTooLarge {
				t.Fatalf("answers %d", rec.Code)
			}
			if reply := (apitest.Reply{T: t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}); reply.Problem().Type == "" || w.entries != nil {
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
			if got.BadNumber != "" {
				continue
			}
			if score, ok := leaderboard.WholeNumber([]byte(want.Entries[i].Score)); !ok || score != got.Score || want.Entries[i].Member != got.Member {
				t.Fatalf("entry %d is %+v, want %+v", i, got, want.Entries[i])
			}
			if len(got.Fields) != len(want.Entries[i].Fields) {
				t.Fatalf("entry %d has the fields %v, want %v", i, got.Fields, want.Entries[i].Fields)
			}
			for name, v := range got.Fields {
				if n, ok := leaderboard.WholeNumber([]byte(want.Entries[i].Fields[name])); !ok || n != v {
					t.Fatalf("entry %d has %q %d", i, name, v)
				}
			}
			if got.Tiebreak != nil {
				if tiebreak, ok := leaderboard.WholeNumber([]byte(want.Entries[i].Tiebreak)); !ok || tiebreak != *got.Tiebreak {
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
		f.Add([]byte(b.ask.Body))
	}
	e := newEnv(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(body, []byte("secret")) {
			return // the answer may repeat the caller's own text, and no answer of a test may have this word
		}
		e.fake.Model = storetest.NewModel()
		r := httptest.NewRequest(http.MethodPut, "/v1/boards/b", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+apitest.AdminKey)
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
			(apitest.Reply{T: t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}).Problem()
			if err == nil {
				t.Fatal("refused and created")
			}
		default:
			t.Fatalf("answers %d", rec.Code)
		}
	})
}
