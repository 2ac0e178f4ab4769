package audit

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// auditLog answers queries as the store does, of records in their order.
type auditLog struct {
	entries []api.AuditEntry // newest first
	looksAt int              // the greatest number of records for a page, 0: all
	asked   leaderboard.AuditQuery
}

func (l *auditLog) Audit(_ context.Context, q leaderboard.AuditQuery) (out []api.AuditEntry, rest leaderboard.AuditPlace, err error) {
	l.asked = q
	looked := 0
	for _, e := range l.entries {
		at := leaderboard.MicrosOf(e.Time)
		if len(out) == q.Limit {
			return out, rest, nil
		}
		if q.BeforeID == 0 || at < q.BeforeTime || at == q.BeforeTime && e.ID < q.BeforeID {
			if looked++; e.Action == q.Action || q.Action == "" {
				out = append(out, e)
			}
			if looked == l.looksAt {
				return out, leaderboard.AuditPlace{Time: at, ID: e.ID}, nil
			}
		}
	}
	return out, rest, nil
}

// TestExamples runs the line for a shell of /docs.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, Routes(nil), func(t testing.TB) *apitest.Env {
		return featuretest.New(t, func(*apitest.Fake) []httpapi.Route { return Routes(&auditLog{}) })
	}, nil)
}

// TestAuditStopsLooking: a page of several filters that would take too long ends early, with or without a record, and its
// cursor continues after the records that were read.
func TestAuditStopsLooking(t *testing.T) {
	log := &auditLog{looksAt: 2}
	e := featuretest.New(t, func(*apitest.Fake) []httpapi.Route { return Routes(log) })
	for id := int64(7); id > 0; id-- {
		action := leaderboard.AuditActionBoardUpdate
		if id == 1 || id == 4 {
			action = leaderboard.AuditActionBoardCreate
		}
		log.entries = append(log.entries, api.AuditEntry{ID: id, Time: leaderboard.Micros(1_700_000_000_000_000 + id).Time(), Action: action, Board: "b"})
	}
	pages := ""
	const query = "/v1/audit?board=b&action=board.create&limit=5"
	for path := query; path != ""; {
		var p struct {
			Entries []struct{ ID int64 }
			Next    string `json:"next_cursor"`
		}
		e.Get(apitest.AdminKey, path).Want(http.StatusOK).Decode(&p)
		pages += fmt.Sprint(p.Entries)
		if path = ""; p.Next != "" {
			path = query + "&cursor=" + p.Next
		}
	}
	if want := "[][{4}][][{1}]"; pages != want {
		t.Errorf("%s, want %s", pages, want)
	}
}

// TestAuditRoute: the records come in pages, with their content, and each parameter selects.
func TestAuditRoute(t *testing.T) {
	log := &auditLog{}
	e := featuretest.New(t, func(*apitest.Fake) []httpapi.Route { return Routes(log) })
	const at = 1_700_000_000_000_000
	for i := range 5 {
		id := int64(5 - i)
		log.entries = append(log.entries, api.AuditEntry{
			ID: id, Time: leaderboard.Micros(at + id/2).Time(), Actor: "k7f3", Action: leaderboard.AuditActionBoardUpdate, Board: "gone", Before: []byte(`{"title":"a"}`),
			After: []byte(`{"title":"b"}`), RequestID: fmt.Sprint("r", id),
		})
	}
	log.entries[4].Before, log.entries[4].Action = nil, leaderboard.AuditActionBoardCreate
	type page struct {
		Entries []struct {
			ID        int64 `json:"id"`
			Actor     string
			Action    string
			Board     string
			Before    map[string]string
			After     map[string]string
			RequestID string `json:"request_id"`
		}
		Next string `json:"next_cursor"`
	}
	var got []string
	for path := "/v1/audit?limit=2"; path != ""; {
		var p page
		e.Get(apitest.AdminKey, path).Want(http.StatusOK).Decode(&p)
		for _, r := range p.Entries {
			got = append(got, fmt.Sprint(r.ID, " ", r.Actor, " ", r.Action, " ", r.Board, " ", r.Before["title"], r.After["title"], " ", r.RequestID))
		}
		if path = ""; p.Next != "" {
			path = "/v1/audit?limit=2&cursor=" + p.Next
			e.Get(apitest.AdminKey, "/v1/audit?board=other&cursor="+p.Next).WantProblem(400, wire.CodeMalformed) // a cursor of another list
		}
	}
	want := "5 k7f3 board.update gone ab r5; 4 k7f3 board.update gone ab r4; 3 k7f3 board.update gone ab r3; 2 k7f3 board.update gone ab r2; 1 k7f3 board.create gone b r1"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	e.Get(apitest.AdminKey, "/v1/audit?board=b&member=m&actor=k7f3&action=member.hide&since=2023-11-14T22:13:20Z&until=2023-11-14T22:13:21Z&limit=7").Want(http.StatusOK)
	if want := (leaderboard.AuditQuery{
		Board: "b", Member: "m", Actor: "k7f3", Action: leaderboard.AuditActionMemberHide, Since: at, Until: at + 1_000_000, Limit: 8,
	}); log.asked != want {
		t.Errorf("asked for %+v, want %+v", log.asked, want)
	}
	for _, bad := range []string{"board=B", "member=%00", "action=board.destroy", "since=yesterday", "until=2023-11-14", "limit=0", "cursor=x", "actor=" + strings.Repeat("x", 129)} {
		e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/audit?" + bad, Key: apitest.AdminKey, Off: true}).WantProblem(400, wire.CodeMalformed)
	}
	e.Get(apitest.WriteKey, "/v1/audit").WantProblem(403, wire.CodeForbidden)
	e.Get(apitest.NoKey, "/v1/audit").WantProblem(401, wire.CodeUnauthorized)
}

// TestAuditActionsAreDocumented: the list of actions in the document is the one of the package.
func TestAuditActionsAreDocumented(t *testing.T) {
	doc, _ := apitest.Document()
	var documented, known []string
	for _, v := range doc.Components.Schemas["AuditAction"].Value.Enum {
		documented = append(documented, fmt.Sprint(v))
	}
	for _, a := range leaderboard.AuditActions() {
		known = append(known, string(a))
	}
	if strings.Join(documented, " ") != strings.Join(known, " ") {
		t.Errorf("documented: %s, known: %s", documented, known)
	}
}

// TestDocumentHasTheActions holds the table of docs/audit.md against the actions that are recorded.
func TestDocumentHasTheActions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range leaderboard.AuditActions() {
		if !strings.Contains(string(page), "`"+string(action)+"`") {
			t.Errorf("docs/audit.md lacks %s", action)
		}
	}
}
