package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check returns a RuleError that lists the faults of rules with their defaults, nil when they are valid. The refresher
// checks the cron expression.
func (r *Rules) Check() error {
	var bad []FieldError
	fail := func(pointer, format string, args ...any) {
		if slices.ContainsFunc(bad, func(f FieldError) bool { return f.Pointer == pointer }) {
			return // one fault of a place is enough
		}
		bad = append(bad, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	checkFields(fail, reflect.ValueOf(r).Elem(), ruleFields, "", false)
	r.checkRecord(fail)
	r.Tiebreak.check(fail)
	r.checkZone(fail)
	r.checkWindows(fail)
	r.checkSeasons(fail)
	r.checkKeep(fail)
	r.Labels.check(fail)
	r.Display.check(fail)
	r.Face.check(fail)
	r.checkTimes(fail)
	r.checkLimits(fail)
	r.Overrides.check(fail)
	r.checkDerive(fail)
	r.Players.check(fail, r.Derive != nil)
	r.checkPerSecond(fail)
	r.Notify.check(fail, r.Derive != nil)
	r.Metadata.check(fail, r.Derive != nil)
	r.Review.check(fail, r.Derive != nil, r.Players)
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidBoard, Detail: "the board's rules are not valid", Fields: bad}
}

// UnknownWord returns the first rule, as a JSON pointer, whose value is not one of its words; "" when all are.
func (r *Rules) UnknownWord() (first string) {
	note := func(pointer, _ string, _ ...any) { first = cmp.Or(first, pointer) }
	checkFields(note, reflect.ValueOf(r).Elem(), ruleFields, "", true)
	for w := range r.Keep {
		if !slices.Contains(Windows()[1:], w) {
			note("/keep", "")
		}
	}
	return first
}

func (r *Rules) checkWindows(fail failFunc) {
	for i, w := range r.Windows[:min(len(r.Windows), len(Windows()))] { // compare each with its predecessors
		if slices.Contains(Windows(), w) && slices.Contains(r.Windows[:i], w) {
			fail("/windows/"+strconv.Itoa(i), "%s is listed twice", w)
		}
	}
}

func (r *Rules) checkRecord(fail failFunc) {
	if r.Record != RecordNone && r.Derive != nil {
		fail("/record", "nothing is submitted to a derived board")
	}
	if d, err := time.ParseDuration(r.RecordTTL); r.RecordTTL != "" && (err != nil || d < MinRecordTTL) {
		fail("/record_ttl", "want a duration of at least %s, such as 2160h", MinRecordTTL)
	}
}

func (r *Rules) checkSeasons(fail failFunc) {
	if len(r.Seasons) == 0 && slices.Contains(r.Windows, WindowSeason) {
		fail("/seasons", "window season needs at least one")
	}
	if len(r.Seasons) > MaxSeasons { // the check of the tag has reported it: a list of all faults would be longer than the body
		return
	}
	end, names := MinTime, map[string]bool{CurrentPeriod: true, PreviousPeriod: true}
	for i, s := range r.Seasons {
		pointer := "/seasons/" + strconv.Itoa(i)
		if names[s.Name] {
			fail(pointer+"/name", "want a name of its own, [A-Za-z0-9][A-Za-z0-9._-]{0,63} and neither current nor previous")
		}
		if s.StartsAt < end || s.StartsAt == MinTime || s.StartsAt > MaxTime { // MinTime: left out
			fail(pointer+"/starts_at", "want a time, at or after the end of the season before, %s", end)
		}
		if s.EndsAt <= s.StartsAt || s.EndsAt > MaxTime {
			fail(pointer+"/ends_at", "want a time after starts_at, up to %s", MaxTime)
		}
		names[s.Name], end = true, s.EndsAt
	}
}

func (r *Rules) checkKeep(fail failFunc) {
	ending := Windows()[1:]
	for _, w := range slices.Sorted(maps.Keys(r.Keep)) {
		if !slices.Contains(ending, w) {
			fail("/keep", "want windows whose periods end, %s, not %q", joined(ending), string(w))
		}
	}
}

func (r *Rules) checkTimes(fail failFunc) {
	if d, err := time.ParseDuration(r.CacheTTL); err != nil || d < MinCacheTTL {
		fail("/cache_ttl", "want a duration of at least %s, such as 24h", MinCacheTTL)
	}
	if r.Refresh.Incremental != Off {
		if d, err := time.ParseDuration(r.Refresh.Incremental); err != nil || d < MinIncremental {
			fail("/refresh/incremental", "want a duration of at least %s, such as 10s, or %s", MinIncremental, Off)
		}
	}
	if _, err := ParseTriggers(r.Refresh.Dynamic); err != nil {
		fail("/refresh/dynamic", "%s", err)
	}
	for pointer, t := range map[string]*Micros{"/starts_at": r.StartsAt, "/ends_at": r.EndsAt} {
		if t != nil && (*t < MinTime || *t > MaxTime) {
			fail(pointer, "want a time from %s to %s", MinTime, MaxTime)
		}
	}
	if r.StartsAt != nil && r.EndsAt != nil && *r.StartsAt >= *r.EndsAt {
		fail("/ends_at", "want a time after starts_at")
	}
}

func (r *Rules) checkLimits(fail failFunc) {
	l := r.Limits
	if l.MinScore != nil && l.MaxScore != nil && *l.MinScore > *l.MaxScore {
		fail("/limits/max_score", "want at least min_score")
	}
}

func (o *Overrides) check(fail failFunc) {
	if o == nil {
		return
	}
	for i, key := range o.Keys[:min(len(o.Keys), MaxOverrideKeys)] {
		if !IsKeyID(key) && key != SettingsKeyID(ScopeWrite) || slices.Contains(o.Keys[:i], key) {
			fail("/overrides/keys/"+strconv.Itoa(i), "want the id of a key, each once, or %s; keys of scope admin need not be named", SettingsKeyID(ScopeWrite))
		}
	}
	for i, op := range o.Ops[:min(len(o.Ops), len(policies()))] {
		if slices.Contains(o.Ops[:i], op) {
			fail("/overrides/ops/"+strconv.Itoa(i), "%s is listed twice", op)
		}
	}
	if len(o.Ops) == 0 && !o.KeepTime {
		fail("/overrides", "want ops or keep_time: without them nothing is allowed")
	}
}

// checkPerSecond reports the faults in the limit of a score per second of a play.
func (r *Rules) checkPerSecond(fail failFunc) {
	switch l := r.Limits.PerSecond; {
	case l == nil:
	case r.Order == OrderAsc:
		fail("/limits/per_second", "where lower scores are better, min_score bounds them")
	case r.Players == nil || r.Players.Submit != PlayersSubmitPlay:
		fail("/limits/per_second", "goes by the time of a play: it needs players.submit to be %s", PlayersSubmitPlay)
	}
}

// Reorders reports whether going from r to other would change the order of existing entries, or the meaning of their
// fields.
func (r *Rules) Reorders(other *Rules) bool {
	return r.Order != other.Order || !r.Tiebreak.equal(&other.Tiebreak)
}

// Trigger asks for a refresh once Changes have gathered and Every has passed since the last one.
type Trigger struct {
	Every   time.Duration
	Changes int64
}

// ParseTriggers reads pairs of seconds/changes such as "900/1 300/10 60/10000".
func ParseTriggers(s string) ([]Trigger, error) {
	var out []Trigger
	for pair := range strings.FieldsSeq(s) {
		seconds, changes, ok := strings.Cut(pair, "/")
		sec, err1 := strconv.ParseInt(seconds, 10, 32)
		n, err2 := strconv.ParseInt(changes, 10, 64)
		if !ok || err1 != nil || err2 != nil || sec < 1 || n < 1 {
			return nil, fmt.Errorf("want pairs of seconds/changes such as 900/1 300/10, not %q", pair)
		}
		out = append(out, Trigger{Every: time.Duration(sec) * time.Second, Changes: n})
	}
	return out, nil
}
