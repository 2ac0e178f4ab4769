package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/leaderboard"
)

// eventsOf returns an event of each kind that waits for the endpoint "contents".
func eventsOf(t *testing.T, c *client.Client) map[leaderboard.EventKind]client.Event {
	t.Helper()
	found := map[leaderboard.EventKind]client.Event{}
	for _, d := range all(t, c.Deliveries(t.Context(), "contents", "")) {
		var e client.Event
		must(t, json.Unmarshal(d.Payload, &e))
		if e.Type != leaderboard.EventKindBoardChanged || bytes.Contains(e.Data, []byte(`"contents"`)) { // other tests have boards too
			found[e.Type] = e
		}
	}
	return found
}

const big = 1<<62 + 1

// decideAboutTwo has two submissions held, one approved and one rejected.
func decideAboutTwo(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, most := t.Context(), int64(100)
	_, _, err := c.PutBoard(ctx, "contents-held", leaderboard.Rules{Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}})
	must(t, err)
	made, err := c.CreateKey(ctx, client.KeyRequest{Name: "contents", Scope: leaderboard.ScopeWrite})
	must(t, err)
	_, err = admin(t, client.WithKey(made.Secret)).Submit(ctx, "contents-held", []leaderboard.Submission{{Member: "ada", Score: big}, {Member: "bob", Score: big}})
	must(t, err)
	held := all(t, c.Held(ctx, "contents-held", "", ""))
	_, err1 := c.ApproveHeld(ctx, held[0].ID, "", false)
	_, err2 := c.RejectHeld(ctx, held[1].ID, "")
	must(t, err1, err2)
}

// everyEvent has one event of each kind happen, and returns them. The season of the board ends soon.
func everyEvent(t *testing.T, c *client.Client, ends time.Time) map[leaderboard.EventKind]client.Event {
	t.Helper()
	ctx := t.Context()
	_, _, err := c.PutBoard(ctx, "contents", leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowSeason},
		Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 20}}},
		Seasons:  []leaderboard.SeasonRule{{Name: "s1", StartsAt: leaderboard.MicrosOf(ends.Add(-time.Hour)), EndsAt: leaderboard.MicrosOf(ends)}},
		Notify:   &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop},
	})
	must(t, err)
	decideAboutTwo(t, c)
	submit := func(member string, score int64) {
		_, err := c.Submit(ctx, "contents", []leaderboard.Submission{{Member: member, Score: score, Fields: map[string]int64{"level": 7}}})
		must(t, err)
	}
	submit("ada", big)
	submit("bob", 1)
	<-time.After(time.Until(ends))
	submit("dan", 1) // which closes the season
	for {            // the server reports only changes committed after it has noticed the board
		submit("bob", 1)
		submit("bob", big+1)
		if _, ok := eventsOf(t, c)[leaderboard.EventKindMemberPassed]; ok {
			break
		}
	}
	_, err = c.HideMember(ctx, "contents", "cid", "a bot", client.HideOptions{})
	must(t, err, c.RestoreMember(ctx, "contents", "cid", "", client.HideOptions{}))
	_, err = c.ForgetMember(ctx, "erased")
	must(t, err)
	var found map[leaderboard.EventKind]client.Event
	apptest.Eventually(t, func() string {
		found = eventsOf(t, c)
		for _, k := range leaderboard.EventKinds() {
			if _, ok := found[k]; !ok {
				return fmt.Sprint("none of ", k)
			}
		}
		return ""
	})
	return found
}

// TestEventContents causes one event of each kind and reads its content: the types have all of it, to the last digit. The server
// is for this test alone: other tests would list its endpoint of all kinds, and it would get their events.
func TestEventContents(t *testing.T) {
	c := admin(t)
	_, err := c.PutEndpoint(t.Context(), "contents", client.EndpointRequest{URL: "https://hooks.example:1/"}) // which is nowhere, so all wait
	must(t, err)
	ends := time.Now().UTC().Add(3 * time.Second).Truncate(time.Second)
	contents := map[leaderboard.EventKind]any{}
	for kind, e := range everyEvent(t, c, ends) {
		content, err := e.Content()
		must(t, err)
		if e.Type != kind || e.ID == "" || e.Timestamp.IsZero() || content == nil {
			t.Fatalf("%s: %+v, %v", kind, e, content)
		}
		contents[kind] = content
		strict := json.NewDecoder(bytes.NewReader(e.Data))
		strict.DisallowUnknownFields()
		again := reflect.New(reflect.TypeOf(content).Elem())
		if err := strict.Decode(again.Interface()); err != nil || !reflect.DeepEqual(again.Interface(), content) {
			t.Errorf("%s: %s is read as %+v, %v", kind, e.Data, content, err)
		}
		sent, told := map[string]any{}, map[string]any{}
		text, err := json.Marshal(content)
		must(t, err, json.Unmarshal(e.Data, &sent), json.Unmarshal(text, &told))
		if len(sent) != len(told) {
			t.Errorf("%s: %s is read as %s", kind, e.Data, text)
		}
	}
	passed := contents[leaderboard.EventKindMemberPassed].(*client.MemberPassed)
	if passed.Member != "ada" || passed.Score != big || passed.By != (client.PassedBy{Member: "bob", Score: big + 1, PreviousScore: 1}) || passed.Board != "contents" || passed.Seq < 3 {
		t.Errorf("passed: %+v", passed)
	}
	closed := contents[leaderboard.EventKindPeriodClosed].(*client.PeriodClosed)
	if closed.Period != "s1" || closed.Total != 2 || len(closed.Top) != 2 || closed.Top[0].Score != big || closed.Top[0].Fields.String() != "level:7" || !closed.EndsAt.Equal(ends) {
		t.Errorf("closed: %+v", closed)
	}
	later := client.Event{Type: "member.praised", Data: []byte(`{"member":1}`)}
	if content, err := later.Content(); content != nil || err != nil {
		t.Errorf("a kind of a later version: %v, %v", content, err)
	}
	must(t, c.DeleteEndpoint(t.Context(), "contents"))
}
