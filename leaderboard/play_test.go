package leaderboard

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestCheckPlay: a submission with a play is carried out within its times, and within the rate, to the microsecond and the point.
func TestCheckPlay(t *testing.T) {
	t.Parallel()
	id, other := NewPlayID(), NewPlayID()
	const began = Micros(1_000_000)
	second := Micros(1_000_000)
	for name, c := range map[string]struct {
		after Micros
		score int64
		with  *PlayID
		play  *Play
		rate  int64
		code  string
	}{
		"no play":                   {after: 20 * second, code: CodePlayNeeded},
		"none is begun":             {after: 20 * second, with: &id, code: CodePlayGone},
		"a later one is begun":      {after: 20 * second, with: &other, play: &Play{ID: id}, code: CodePlayGone},
		"as quick as may be":        {after: 10 * second, with: &id, play: &Play{ID: id}},
		"too quick":                 {after: 10*second - 1, with: &id, play: &Play{ID: id}, code: CodePlayTime},
		"before it began":           {after: -second, with: &id, play: &Play{ID: id}, code: CodePlayTime},
		"as slow as may be":         {after: 60 * second, with: &id, play: &Play{ID: id}},
		"too slow":                  {after: 60*second + 1, with: &id, play: &Play{ID: id}, code: CodePlayTime},
		"as much as may be":         {after: 20 * second, score: 140, rate: 7, with: &id, play: &Play{ID: id}},
		"a point too much":          {after: 20 * second, score: 141, rate: 7, with: &id, play: &Play{ID: id}, code: CodePlayRate},
		"a microsecond too early":   {after: 20*second - 1, score: 140, rate: 7, with: &id, play: &Play{ID: id}, code: CodePlayRate},
		"less than nothing":         {after: 20 * second, score: math.MinInt64, rate: 1, with: &id, play: &Play{ID: id}},
		"the greatest score":        {after: 20 * second, score: math.MaxInt64, rate: 1 << 50, with: &id, play: &Play{ID: id}, code: CodePlayRate},
		"the greatest of both":      {after: 20 * second, score: math.MaxInt64, rate: math.MaxInt64, with: &id, play: &Play{ID: id}},
		"without a limit of scores": {after: 20 * second, score: math.MaxInt64, with: &id, play: &Play{ID: id}},
	} {
		r := Rules{Players: &Players{Submit: PlayersSubmitPlay, MinTime: "10s", MaxTime: "1m"}}
		if c.rate > 0 {
			r.Limits.PerSecond = &c.rate
		}
		if c.play != nil {
			c.play.StartedTime = began
		}
		broken := AsRule(r.CheckPlay(&Submission{Score: c.score, Play: c.with}, c.play, began+c.after))
		if broken == nil && c.code != "" || broken != nil && broken.Code != c.code {
			t.Errorf("%s: %v, want %q", name, broken, c.code)
		}
	}
}

// TestRulesOfPlays: the rules of plays that a board may have, and the times without a rule.
func TestRulesOfPlays(t *testing.T) {
	t.Parallel()
	play := func(least, most string) *Players {
		return &Players{Submit: PlayersSubmitPlay, MinTime: least, MaxTime: most}
	}
	rate, none := int64(5), int64(0)
	for wrong, r := range map[string]Rules{
		"":                     {Players: play("", "")},
		"/players/min_time":    {Players: play("-1s", "")},
		"/players/min_time ":   {Players: play("24h", "24h")},
		"/players/max_time":    {Players: play("", "24h1s")},
		"/players/max_time ":   {Players: play("1m", "1m")},
		"/players/max_time  ":  {Players: play("2h", "")},
		"/players/max_time   ": {Players: play("", "soon")},
		"/players/submit":      {Players: &Players{Submit: PlayersSubmitOwn, MinTime: "1s"}},
		"/limits/per_second":   {Players: &Players{Submit: PlayersSubmitOwn}, Limits: Limits{PerSecond: &rate}},
		"/limits/per_second ":  {Players: play("", ""), Limits: Limits{PerSecond: &none}},
		"/limits/per_second  ": {Order: OrderAsc, Players: play("", ""), Limits: Limits{PerSecond: &rate}},
		" ":                    {Players: play("10s", "10m"), Limits: Limits{PerSecond: &rate}},
		"  ":                   {Players: play("0s", "24h")},
	} {
		r = r.WithDefaults()
		broken := AsRule(r.Check())
		if wrong = strings.TrimSpace(wrong); wrong == "" && broken != nil || wrong != "" && (broken == nil || len(broken.Fields) != 1 || broken.Fields[0].Pointer != wrong) {
			t.Errorf("%+v: %v, want %q", r.Players, broken, wrong)
		}
	}
	if least, most := play("", "").Times(); least != 0 || most != time.Hour {
		t.Errorf("%s to %s when nothing is said", least, most)
	}
	if r := (Rules{Players: &Players{Submit: PlayersSubmitNone}}).WithDefaults(); r.Players != nil {
		t.Errorf("%+v of players who may do nothing", r.Players)
	}
}

// TestPlayIDs: an ID parses to itself, and no other text parses.
func TestPlayIDs(t *testing.T) {
	t.Parallel()
	id := NewPlayID()
	if got, ok := ParsePlayID(id.String()); !ok || got != id || id == NewPlayID() {
		t.Errorf("%s, %t", got, ok)
	}
	for _, s := range []string{"", "a", id.String() + "AA", id.String()[:20], id.String() + "=", strings.Repeat("!", 22), "AAAAAAAAAAAAAAAAAAAAAB"} {
		if _, ok := ParsePlayID(s); ok {
			t.Errorf("%q is an ID", s)
		}
	}
}
