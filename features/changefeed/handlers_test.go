package changefeed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// server is an API with the change feed.
type server struct {
	*apitest.Env
	streams *httpapi.Streams
}

func newServer(t testing.TB) *server {
	s := &server{streams: httpapi.NewStreams(10)}
	s.Env = featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		return Routes(httpapi.Resolver{Catalog: f}, changeLog{f}, f, s.streams)
	})
	return s
}

// changeLog is the log of the model.
type changeLog struct{ *apitest.Fake }

// ChangesAfter is of the model, as the app has it.
func (f changeLog) ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error) {
	if err := f.Enter("ChangesAfter"); err != nil {
		return leaderboard.LogPart{}, err
	}
	parts, err := f.CommitsSince(ctx, []leaderboard.PeriodRevision{from}, changes)
	if err != nil {
		return leaderboard.LogPart{}, err
	}
	part := parts[from.PeriodID]
	switch {
	case errors.Is(part.Err, rank.ErrDiverged):
		part.Err = leaderboard.ErrIncarnationChanged
	case errors.Is(part.Err, leaderboard.ErrLogPruned):
		part.Err = leaderboard.ErrFeedPruned
	}
	return part, part.Err
}

func (e *server) submit(board string, entries ...leaderboard.Submission) {
	e.T.Helper()
	if _, err := e.Fake.Model.Submit(e.T.Context(), leaderboard.SubmitRequest{Board: board, Entries: entries}); err != nil {
		e.T.Fatal(err)
	}
}

// TestExamples runs the line for a shell of /docs.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, Routes(httpapi.Resolver{}, nil, nil, nil), func(t testing.TB) *apitest.Env {
		e := newServer(t).Env
		e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
		return e
	}, nil)
}

// feedLine is a line of the change feed.
type feedLine struct {
	End       bool
	Period    string
	Next      *string
	Seq       int64
	Member    string
	Before    *feedEntry
	After     *feedEntry
	Cursor    string
	Committed string `json:"committed_at"`
}

type feedEntry struct {
	Score    int64
	Tiebreak int64
	Fields   map[string]int64
	Created  string `json:"created_time"`
}

// changes requests changes, which must come, and returns them with the cursor to continue.
func (e *server) changes(path string) (lines []feedLine, cursor string) {
	e.T.Helper()
	r := e.Get(apitest.AdminKey, path).Want(200)
	if got := r.Header.Get("Content-Type"); got != typeNDJSON {
		e.T.Errorf("content type %s", got)
	}
	for text := range strings.Lines(string(r.Body)) {
		var l feedLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			e.T.Fatalf("%q: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines, r.Header.Get(httpapi.HeaderCursor)
}

// brief is lines in short: period, seq, member, score before and after.
func brief(lines []feedLine) string {
	var out []string
	score := func(e *feedEntry) string {
		if e == nil {
			return "-"
		}
		return fmt.Sprint(e.Score)
	}
	for _, l := range lines {
		if l.End {
			out = append(out, "end "+l.Period)
		} else {
			out = append(out, fmt.Sprintf("%s %d %s %s>%s", l.Period, l.Seq, l.Member, score(l.Before), score(l.After)))
		}
	}
	return strings.Join(out, ", ")
}

// TestChanges: each change once and in order, wherever a request continues: after any line, in the middle of a commit too,
// after an answer, or after an export.
func TestChanges(t *testing.T) {
	e := newServer(t)
	e.Board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "a", Score: 1}, leaderboard.Submission{Member: "b", Score: 2}, leaderboard.Submission{Member: "c", Score: 3})
	ref, _, err := e.Fake.Resolve(t.Context(), "b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	page, err := e.Fake.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	place := wire.ChangePlace{Window: ref.Window, Period: ref.Name, At: page.Revision} // as an export has it
	state := place.Cursor("b")
	e.submit("b", leaderboard.Submission{Member: "a", Score: 5}, leaderboard.Submission{Member: "b", Score: 1}, leaderboard.Submission{Member: "d", Score: 4})
	e.Do(apitest.Ask{Method: "DELETE", Path: "/v1/boards/b/members/b", Key: apitest.AdminKey}).Want(200)
	e.Put(apitest.AdminKey, "/v1/boards/b/members/a/hidden", `{"reason":"aimbot"}`).Want(200)
	all := []string{"all_time 1 a ->1", "all_time 2 b ->2", "all_time 3 c ->3", "all_time 4 a 1>5", "all_time 5 d ->4", "all_time 6 b 2>-", "all_time 7 a 5>-"}
	lines, end := e.changes("/v1/boards/b/changes")
	if got := brief(lines); got != strings.Join(all, ", ") {
		t.Fatalf("changes: %s", got)
	}
	if after, _ := e.changes("/v1/boards/b/changes?after=" + state); brief(after) != strings.Join(all[3:], ", ") {
		t.Errorf("after the export: %s", brief(after))
	}
	for i, l := range lines {
		after, cursor := e.changes("/v1/boards/b/changes?window=all_time&after=" + l.Cursor)
		if brief(after) != strings.Join(all[i+1:], ", ") || cursor != end {
			t.Errorf("after change %d: %s", i+1, brief(after))
		}
	}
	at := ""
	for i := range all {
		one, cursor := e.changes("/v1/boards/b/changes?limit=1" + at)
		if brief(one) != all[i] || one[0].Cursor != cursor {
			t.Errorf("one by one, %d: %s", i, brief(one))
		}
		at = "&after=" + cursor
	}
	if none, cursor := e.changes("/v1/boards/b/changes?limit=1" + at); none != nil || "&after="+cursor != at {
		t.Errorf("behind the last: %s", brief(none))
	}
	if l := lines[3]; l.Committed == "" || l.After.Created == "" || l.Before.Created == "" {
		t.Errorf("a line is %+v", l)
	}
	if text := string(e.Get(apitest.AdminKey, "/v1/boards/b/changes?limit=1&numbers=string").Want(200).Body); !strings.Contains(text, `"seq":"1"`) || !strings.Contains(text, `"score":"1"`) {
		t.Errorf("numbers as strings: %s", text)
	}
}

// TestChangesRefused: bad requests, and requests by keys without the right.
func TestChangesRefused(t *testing.T) {
	e := newServer(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	e.Board("other", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	_, cursor := e.changes("/v1/boards/other/changes")
	for _, query := range []string{"after=x", "after=", "after=" + cursor, "limit=0", "limit=5001", "wait=61s", "wait=x", "window=never", "period=all_time"} {
		e.Get(apitest.AdminKey, "/v1/boards/b/changes?"+query).WantProblem(400, "malformed-request")
	}
	e.Get(apitest.AdminKey, "/v1/boards/other/changes?window=day&after="+cursor).WantProblem(400, "malformed-request")
	e.Get(apitest.NoKey, "/v1/boards/b/changes").WantProblem(401, "unauthorized")
	e.Get(apitest.WriteKey, "/v1/boards/b/changes").WantProblem(403, "forbidden")
	e.Get(apitest.AdminKey, "/v1/boards/none/changes").WantProblem(404, "board-not-found")
	e.Get(apitest.AdminKey, "/v1/boards/b/changes?window=day").WantProblem(404, "period-not-found")
	e.Fake.Fails = map[string]error{"ChangesAfter": leaderboard.ErrUnavailable}
	e.Get(apitest.AdminKey, "/v1/boards/b/changes").WantProblem(503, "unavailable")
}

// TestChangesBreak: the state from which a cursor continues no longer exists.
func TestChangesBreak(t *testing.T) {
	e := newServer(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1}, leaderboard.Submission{Member: "b", Score: 2})
	lines, last := e.changes("/v1/boards/b/changes")
	e.submit("b", leaderboard.Submission{Member: "a", Score: 3})
	ref, _, err := e.Fake.Resolve(t.Context(), "b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	e.Fake.PruneLog(ref.ID)
	for _, cursor := range []string{"", "?after=" + lines[0].Cursor, "?after=" + last} {
		e.Get(apitest.AdminKey, "/v1/boards/b/changes"+cursor).WantProblem(410, "log-pruned")
	}
	if err := e.Fake.DeleteBoard(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	e.Get(apitest.AdminKey, "/v1/boards/b/changes?after="+last).WantProblem(404, "board-not-found")
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "x", Score: 1}, leaderboard.Submission{Member: "y", Score: 2})
	for _, cursor := range []string{lines[0].Cursor, last} {
		e.Get(apitest.AdminKey, "/v1/boards/b/changes?after="+cursor).WantProblem(410, "history-changed")
	}
}

const hour = leaderboard.Micros(time.Hour / time.Microsecond)

// TestChangesOverPeriods: a period ends once nothing can enter it, and the feed continues in the next, through periods in
// which nobody played; a cursor for a period that has not begun waits for it.
func TestChangesOverPeriods(t *testing.T) {
	e := newServer(t)
	now := leaderboard.Micros(1_700_000_000_000_000) // 22:13:20
	e.Fake.SetNow(now)
	e.Board("b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowHour}}, leaderboard.Submission{Member: "a", Score: 1})
	_, cursor := e.changes("/v1/boards/b/changes")
	e.Fake.SetNow(now + hour)
	e.submit("b", leaderboard.Submission{Member: "b", Score: 2})
	lines, _ := e.changes("/v1/boards/b/changes?after=" + cursor)
	if got := brief(lines); got != "end 2023-11-14T22, 2023-11-14T23 1 b ->2" {
		t.Fatalf("at the turn: %s", got)
	}
	if again, _ := e.changes("/v1/boards/b/changes?limit=2&after=" + *lines[0].Next); brief(again) != "2023-11-14T23 1 b ->2" {
		t.Errorf("from the next of an end: %s", brief(again))
	}
	e.Fake.SetNow(now + 4*hour)
	e.submit("b", leaderboard.Submission{Member: "c", Score: 3})
	lines, _ = e.changes("/v1/boards/b/changes?after=" + lines[1].Cursor)
	if got := brief(lines); got != "end 2023-11-14T23, end 2023-11-15T00, end 2023-11-15T01, 2023-11-15T02 1 c ->3" {
		t.Errorf("over empty periods: %s", got)
	}
	current := lines[3].Cursor
	ended := "/v1/boards/b/changes?limit=1&after=" + cursor
	lines, _ = e.changes(ended)
	if got := brief(lines); got != "end 2023-11-14T22" {
		t.Errorf("a closed period once more: %s", got)
	}
	period, err := e.Fake.PeriodNamed(t.Context(), 1, leaderboard.WindowHour, "2023-11-14T22")
	if err != nil {
		t.Fatal(err)
	}
	e.Do(apitest.Ask{Method: "DELETE", Path: "/v1/boards/b/members/a?period=2023-11-14T22&reopen=true", Key: apitest.AdminKey}).Want(200)
	if lines, _ = e.changes("/v1/boards/b/changes?after=" + cursor + "&limit=2"); brief(lines) != "2023-11-14T22 2 a 1>-, end 2023-11-14T22" {
		t.Errorf("a correction of %+v: %s", period, brief(lines))
	}
	e.Fake.SetNow(now + 5*hour)
	e.Get(apitest.AdminKey, "/v1/boards/b/top").Want(200)
	lines, next := e.changes("/v1/boards/b/changes?limit=1&after=" + current)
	if got := brief(lines); got != "end 2023-11-15T02" {
		t.Fatalf("the last end: %s", got)
	}
	e.Fake.SetNow(now + 4*hour) // as a server sees it whose clock was read a moment ago
	if early, at := e.changes("/v1/boards/b/changes?after=" + next); early != nil || at != next {
		t.Errorf("before the period: %s", brief(early))
	}
}

// TestChangesOfSeasons: behind the last season there is no next one, until the rules name it.
func TestChangesOfSeasons(t *testing.T) {
	e := newServer(t)
	now := leaderboard.Micros(1_700_000_000_000_000)
	e.Fake.SetNow(now)
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: []leaderboard.SeasonRule{{Name: "one", StartsAt: now - hour, EndsAt: now + hour}}}
	e.Board("b", rules, leaderboard.Submission{Member: "a", Score: 1})
	_, cursor := e.changes("/v1/boards/b/changes")
	e.Fake.SetNow(now + hour)
	e.Get(apitest.AdminKey, "/v1/boards/b/top").Want(200)
	lines, end := e.changes("/v1/boards/b/changes?after=" + cursor)
	if brief(lines) != "end one" || lines[0].Next != nil || end != cursor {
		t.Fatalf("the last season: %s", brief(lines))
	}
	rules.Seasons = append(rules.Seasons, leaderboard.SeasonRule{Name: "two", StartsAt: now + 2*hour, EndsAt: now + 3*hour})
	if _, _, err := e.Fake.Model.ChangeBoard(t.Context(), "b", func(*leaderboard.Board) (leaderboard.Rules, error) { return rules, nil }); err != nil {
		t.Fatal(err)
	}
	lines, _ = e.changes("/v1/boards/b/changes?after=" + end)
	if brief(lines) != "end one" || lines[0].Next == nil {
		t.Errorf("with another season: %s", brief(lines))
	}
}

// TestChangesWait: a request that waits is answered with the change that it waited for, or without changes when the time is
// over; a request whose key is revoked meanwhile, or whose board is gone, is refused.
func TestChangesWait(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(e *server)
		status    int
		want      string
	}{
		"change":  {func(e *server) { e.submit("b", leaderboard.Submission{Member: "z", Score: 9}) }, 200, "all_time 2 z ->9"},
		"nothing": {func(*server) {}, 200, ""},
		"gone":    {func(e *server) { _ = e.Fake.DeleteBoard(context.Background(), "b") }, 404, ""},
		"ending":  {func(e *server) { e.streams.End() }, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newServer(t)
				woken := make(chan struct{})
				e.Fake.OnChanged = func(ctx context.Context) error {
					select {
					case <-woken:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
				_, cursor := e.changes("/v1/boards/b/changes")
				began, done := time.Now(), make(chan struct{})
				go func() {
					time.Sleep(3 * time.Second)
					c.meanwhile(e)
					if name == "change" {
						close(woken)
					}
					close(done)
				}()
				r := e.Get(apitest.AdminKey, "/v1/boards/b/changes?wait=20s&after="+cursor).Want(c.status)
				<-done
				if c.status == http.StatusOK {
					var lines []feedLine
					for text := range strings.Lines(string(r.Body)) {
						var l feedLine
						if err := json.Unmarshal([]byte(text), &l); err != nil {
							t.Fatal(err)
						}
						lines = append(lines, l)
					}
					if brief(lines) != c.want {
						t.Errorf("got %s", brief(lines))
					}
				}
				took := time.Since(began)
				if waits := name == "nothing"; waits && took != 20*time.Second || !waits && took > 4*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// TestChangesAsEvents: the same changes as events, whose ids continue where a connection ended; the last event is the
// reason of the end.
func TestChangesAsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newServer(t)
		woken := make(chan struct{}, 1)
		e.Fake.OnChanged = func(ctx context.Context) error {
			select {
			case <-woken:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1}, leaderboard.Submission{Member: "b", Score: 2})
		go func() {
			time.Sleep(3 * time.Second)
			e.submit("b", leaderboard.Submission{Member: "c", Score: 3})
			woken <- struct{}{}
			time.Sleep(20 * time.Second)
			e.submit("b", leaderboard.Submission{Member: "d", Score: 4})
			woken <- struct{}{}
			time.Sleep(time.Second)
			_ = e.Fake.DeleteBoard(context.Background(), "b")
		}()
		read := func() (ids, events []string, text string) {
			w := httptest.NewRecorder()
			e.Handler.ServeHTTP(w, apitest.Ask{Method: "GET", Path: "/v1/boards/b/changes?numbers=string", Key: apitest.AdminKey, Header: http.Header{"Accept": {httpapi.TypeEvents}}}.Request().WithContext(t.Context()))
			text = w.Body.String()
			for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
				fields := map[string]string{}
				for line := range strings.Lines(block) {
					name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
					fields[name] = value
				}
				if fields["event"] == "" {
					continue
				}
				ids, events = append(ids, fields["id"]), append(events, fields["event"]+" "+fields["data"])
			}
			return ids, events, text
		}
		ids, events, text := read()
		if len(events) != 5 || !strings.Contains(events[3], `change {"period":"all_time","seq":"4",`) || !strings.HasPrefix(events[4], "gone {") || !strings.Contains(events[4], "board-not-found") {
			t.Errorf("events:\n%s", text)
		}
		if !strings.Contains(text, "\n\n:\n\n") {
			t.Errorf("no comment in 20 seconds of silence:\n%s", text)
		}
		e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
		e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/changes", Key: apitest.AdminKey, Header: http.Header{"Accept": {httpapi.TypeEvents}, "Last-Event-Id": {ids[0]}}}).WantProblem(410, "history-changed")
	})
}
