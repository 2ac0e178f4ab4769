package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard"
)

// auditLog answers queries as the store does, of records in their order.
type auditLog struct {
	entries []leaderboard.AuditEntry // newest first
	asked   leaderboard.AuditQuery
}

func (l *auditLog) Audit(_ context.Context, q leaderboard.AuditQuery) ([]leaderboard.AuditEntry, error) {
	l.asked = q
	var out []leaderboard.AuditEntry
	for _, e := range l.entries {
		if q.BeforeID == 0 || e.Time < q.BeforeTime || e.Time == q.BeforeTime && e.ID < q.BeforeID {
			out = append(out, e)
		}
	}
	return out[:min(len(out), q.Limit)], nil
}

// TestAuditRoute: the records come in pages, with what they say, and each parameter selects.
func TestAuditRoute(t *testing.T) {
	log := &auditLog{}
	e := newEnv(t, func(c *Config) { c.Audit = log })
	const at = 1_700_000_000_000_000
	for i := range 5 {
		id := int64(5 - i)
		log.entries = append(log.entries, leaderboard.AuditEntry{
			ID: id, Time: at + leaderboard.Micros(id/2), Actor: "k7f3", Action: leaderboard.AuditActionBoardUpdate, Board: "gone", Before: `{"title":"a"}`,
			After: `{"title":"b"}`, RequestID: fmt.Sprint("r", id),
		})
	}
	log.entries[4].Before, log.entries[4].Action = "", leaderboard.AuditActionBoardCreate
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
		e.get(adminKey, path).want(http.StatusOK).decode(&p)
		for _, r := range p.Entries {
			got = append(got, fmt.Sprint(r.ID, " ", r.Actor, " ", r.Action, " ", r.Board, " ", r.Before["title"], r.After["title"], " ", r.RequestID))
		}
		if path = ""; p.Next != "" {
			path = "/v1/audit?limit=2&cursor=" + p.Next
			e.get(adminKey, "/v1/audit?board=other&cursor="+p.Next).wantProblem(400, codeMalformed) // a cursor of another list
		}
	}
	want := "5 k7f3 board.update gone ab r5; 4 k7f3 board.update gone ab r4; 3 k7f3 board.update gone ab r3; 2 k7f3 board.update gone ab r2; 1 k7f3 board.create gone b r1"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	e.get(adminKey, "/v1/audit?board=b&member=m&actor=k7f3&action=member.hide&since=2023-11-14T22:13:20Z&until=2023-11-14T22:13:21Z&limit=7").want(http.StatusOK)
	if want := (leaderboard.AuditQuery{
		Board: "b", Member: "m", Actor: "k7f3", Action: leaderboard.AuditActionMemberHide, Since: at, Until: at + 1_000_000, Limit: 8,
	}); log.asked != want {
		t.Errorf("asked for %+v, want %+v", log.asked, want)
	}
	for _, bad := range []string{"board=B", "member=%00", "action=board.destroy", "since=yesterday", "until=2023-11-14", "limit=0", "cursor=x", "actor=" + strings.Repeat("x", 129)} {
		e.do(ask{method: http.MethodGet, path: "/v1/audit?" + bad, key: adminKey, off: true}).wantProblem(400, codeMalformed)
	}
	e.get(writeKey, "/v1/audit").wantProblem(403, codeForbidden)
	e.get(noKey, "/v1/audit").wantProblem(401, codeUnauthorized)
}

// TestAuditActionsAreDocumented: the list of actions in the document is the one of the package.
func TestAuditActionsAreDocumented(t *testing.T) {
	doc, _ := document()
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
