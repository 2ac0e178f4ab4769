package leaderboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Board is a named leaderboard and its rules.
type Board struct {
	ID          int64
	Name        string // [a-z0-9][a-z0-9._-]{0,63}
	Version     int64  // incremented by each change of the rules
	Rules       Rules
	CreatedTime Micros
	UpdatedTime Micros

	// Unknown is the first rule of the board, as a JSON pointer, that this server does not know: a newer version made
	// it, or it names a time zone that this machine does not have. It is "" when Rules are complete.
	Unknown string
}

// CheckWritable returns an ErrUnknownRule when the board has a rule that this server does not know. Such a board may be
// read, by the known rules. Only a server that knows the rule may change the board, its entries and its periods, except
// for the changes that CheckMovable allows.
func (b *Board) CheckWritable() error {
	if b.Unknown == "" {
		return nil
	}
	return fmt.Errorf("%w: %s of board %s", ErrUnknownRule, b.Unknown, b.Name)
}

// UnknownZone is Board.Unknown of a board whose rules are all known but for its time zone, which this machine does not have.
const UnknownZone = "/time_zone"

// CheckMovable returns an ErrUnknownRule when entries of the board may not even be hidden, shown again or removed by this server. It
// takes no calendar, so a time zone that is not known is no reason.
func (b *Board) CheckMovable() error {
	if b.Unknown == UnknownZone {
		return nil
	}
	return b.CheckWritable()
}

// RulesChange returns the new rules of a board, given the present board, which is nil if there is no such board. It
// must not write to either.
type RulesChange func(b *Board) (Rules, error)

// Visibility is the rule that says who may read a board.
type Visibility string

// Anyone may read a public board, a private one needs a key.
const (
	VisibilityPublic  Visibility = "public"
	VisibilityPrivate Visibility = "private"
)

// Policy is the rule by which a submission changes the member's entry.
type Policy string

const (
	// PolicyBest keeps the better of two whole entries (score, then tiebreak), never a mixture.
	PolicyBest Policy = "best"
	// PolicyLatest replaces the entry.
	PolicyLatest Policy = "latest"
	// PolicySum adds the submitted amount to the score.
	PolicySum Policy = "sum"
)

func policies() []Policy { return []Policy{PolicyBest, PolicyLatest, PolicySum} }

// Rules are the rules that an admin gives a board. The JSON form is the body of PUT /v1/boards/{board} and the content
// of boards.rules.
type Rules struct {
	Title      string     `json:"title" flag:"title" group:"Page" bytes:"200" doc:"Name for people. Empty when left out."`
	Order      Order      `json:"order" flag:"order" label:"What is better" group:"Scoring" words:"desc,asc" default:"desc" doc:"Which scores are better, higher ones with desc, lower ones with asc."`
	Policy     Policy     `json:"policy" flag:"policy" group:"Scoring" words:"best,latest,sum" default:"best" doc:"What a submission does. best keeps the better entry, latest replaces it, sum adds to the score."`
	Mode       Mode       `json:"mode" flag:"mode" label:"Ties" group:"Scoring" words:"strict,tied,dense" default:"strict" doc:"How ties are numbered."`
	Windows    []Window   `json:"windows" flag:"windows" label:"When it resets" group:"Periods" words:"all_time,hour,day,week,month,quarter,year,season" items:"1,8" default:"all_time" doc:"Windows in which a submission counts. Requests read the first one by default. A window that is added begins empty; a window that is removed keeps its periods."`
	TimeZone   string     `json:"time_zone" flag:"time-zone" group:"Periods" default:"UTC" doc:"IANA time zone of the periods. It cannot change once a calendar period has been used."`
	Visibility Visibility `json:"visibility" flag:"visibility" label:"Who may read" group:"Players" words:"public,private" default:"public" doc:"Who may read the board."`
	TopN       int        `json:"top_n" flag:"top-n" label:"Entries of the copy" group:"Storage" range:"1,100000" default:"1000" doc:"Entries in the Redis copy."`
	Refresh    Refresh    `json:"refresh" group:"Storage" doc:"When the copy is renewed besides after each commit."`
	CacheTTL   string     `json:"cache_ttl" flag:"cache-ttl" label:"An unread copy stays for" group:"Storage" default:"24h" doc:"How long an unread copy stays in Redis. A Go duration of at least 1m."`
	Limits     Limits     `json:"limits" group:"Scoring" doc:"Bounds of the scores."`
	Tiebreak   Tiebreak   `json:"tiebreak" group:"Scoring" doc:"Decides between equal scores, before created_time: one number, or several fields packed into one."`
	StartsAt   *Micros    `json:"starts_at,omitempty" flag:"starts-at" label:"First submissions at (UTC)" group:"Periods" doc:"Submissions before this time are rejected."`
	EndsAt     *Micros    `json:"ends_at,omitempty" flag:"ends-at" label:"Last submissions before (UTC)" group:"Periods" doc:"Submissions from this time on are rejected."`

	Seasons   []SeasonRule   `json:"seasons,omitempty" group:"Periods" items:"0,1000" doc:"The periods of window season, in order and not overlapping. Between them a board with no other window takes no submissions; one that was used cannot change."`
	Derive    *Derive        `json:"derive,omitempty" group:"Scoring" doc:"Makes it a derived board."`
	Keep      map[Window]int `json:"keep,omitempty" label:"Closed periods kept" group:"Periods" range:"0,1000000" want:"0 to 1000000 closed periods" example:"{ day: 90, hour: 48 }" doc:"How many closed periods are kept by window; all of them without an entry. Older ones are deleted."`
	Display   *Display       `json:"display,omitempty" group:"Page" doc:"How people are shown the scores, on pages and by clients that read it. Scores stay whole numbers in requests, answers and orders. Left out: as whole numbers."`
	Face      *Face          `json:"face,omitempty" group:"Page" doc:"How the public page of the board looks, beside what the installation has for all of its pages. All of it is shown as text or as a picture, never as HTML. Left out: as the other pages do."`
	Labels    Labels         `json:"labels,omitempty" flag:"labels" group:"Page" items:"0,16" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$" want:"a value of a label, [a-z0-9][a-z0-9._-]{0,63}" example:"{ type: moba, aspect: sound }" doc:"What the board is about, at most 16. Labels select boards for lists and combined rankings. Names and values are [a-z0-9][a-z0-9._-]{0,63}."`
	StrictIDs bool           `json:"strict_ids,omitzero" flag:"strict-ids" label:"Only ids in ASCII" group:"Players" default:"false" doc:"Whether submissions for ids that are not printable ASCII are rejected. Printable ASCII is U+0020 to U+007E; the others are rejected with invalid-member. Entries that are there stay, and are read as before."`
	Resident  Resident       `json:"resident,omitempty" flag:"resident" label:"Whole in memory" group:"Storage" words:"always,never" doc:"Whether servers keep its periods whole in memory; by how much they are read when left out. There every question is answered without a round trip, and dense ranks are known at any depth. always: the current periods as soon as they are read, before those of other boards; within --resident-memory."`
	Record    Record         `json:"record,omitempty" flag:"record" label:"Record submissions" group:"Review" words:"applied,all" doc:"Which submissions are recorded, with their key and outcome; none when left out. applied: those that changed an entry. Not on derived boards."`
	RecordTTL string         `json:"record_ttl,omitempty" flag:"record-ttl" label:"Records are kept for" group:"Review" default:"2160h" example:"2160h" doc:"How long records of submissions are kept, 1h at least."`
	Overrides *Overrides     `json:"overrides,omitempty" group:"Review" example:"{ keys: [k7f3aaaaaaaaa], ops: [latest], keep_time: true }" doc:"Which entries of submits may do otherwise than the policy says, by keys of scope admin and by those named. Left out: none may. Not on derived boards."`
	Players   *Players       `json:"players,omitempty" group:"Players" doc:"What players may do with tokens of their own, see docs/players.md. Left out: what anyone may."`
	Notify    *Notify        `json:"notify,omitempty" group:"Players" doc:"Which members are told that another one passed them in the first window, by events of kind member.passed: see docs/webhooks.md. Left out: none. Not on derived boards."`
	Metadata  *Metadata      `json:"metadata,omitempty" group:"Storage" doc:"Submissions may have metadata, which their entries keep. Left out: they may not. Not on derived boards."`
	Review    *Review        `json:"review,omitempty" group:"Review" doc:"Which submissions wait for an admin before they count; what waits is in no answer. Left out: none. Those of keys of scope admin never do. Not on derived boards."`
}

// Resident is the rule for keeping the periods of a board whole in memory.
type Resident string

// By default, servers keep the periods that are read most.
const (
	ResidentAuto   Resident = ""
	ResidentAlways Resident = "always" // current periods are loaded as soon as they are read, before periods of other boards
	ResidentNever  Resident = "never"
)

// Record is the rule that says which submissions of a board are recorded, with their caller and their outcome.
type Record string

// Each record costs a row.
const (
	RecordNone    Record = ""
	RecordApplied Record = "applied" // submissions that changed an entry
	RecordAll     Record = "all"     // also submissions that changed nothing or were rejected
)

// Bounds of Rules.RecordTTL.
const (
	DefaultRecordTTL = 90 * 24 * time.Hour
	MinRecordTTL     = time.Hour
)

// RecordFor returns how long records of checked rules are kept.
func (r *Rules) RecordFor() time.Duration {
	d, err := time.ParseDuration(r.RecordTTL)
	if err != nil {
		return DefaultRecordTTL
	}
	return d
}

// Refresh is the rule that says when the Redis copy is renewed, in addition to the write-through after each commit.
type Refresh struct {
	Full        string `json:"full" flag:"refresh-full" label:"Rebuild the copy at" example:"\"0 4 * * *\"" doc:"When to rebuild the copy, as a cron expression in UTC. Of 5 fields: then each current period gets a full copy, read or not; never when left out or empty."`
	Incremental string `json:"incremental" flag:"refresh-incremental" label:"Catch up each" default:"10s" doc:"Interval of catching up, or off. A Go duration of at least 100ms."`
	Dynamic     string `json:"dynamic" flag:"refresh-dynamic" label:"Catch up after changes" example:"900/1 300/10" doc:"Pairs of seconds/changes, as in 900/1 300/10. None when left out or empty."`
}

// Limits bound the scores of a board; nil is no limit. A sum that lies outside of them, because they were narrowed
// later, may move towards them. MaxDelta bounds changes of a score: not a change that policy best ignores, and not the
// first score of a member in a period with best and latest.
type Limits struct {
	MinScore  *int64 `json:"min_score,omitempty" flag:"min-score" label:"Least score" doc:"Least score that is accepted."`
	MaxScore  *int64 `json:"max_score,omitempty" flag:"max-score" label:"Greatest score" doc:"Greatest score that is accepted."`
	MaxDelta  *int64 `json:"max_delta,omitempty" flag:"max-delta" label:"Greatest change" range:"0," doc:"Greatest change of a score by one submission; no first score in a period is one, but for policy sum: max_score bounds it. With policy sum it is the greatest amount. With best and latest it does not apply to a member's first score in a period, which max_score bounds. A score that best ignores is no change."`
	PerSecond *int64 `json:"per_second,omitempty" flag:"max-per-second" label:"Greatest score per second" group:"Players" range:"1," doc:"Greatest score of a play for each second since it was begun; with policy sum the greatest amount. Where players submit with plays. Not with order asc. Keys submit without plays, and are not bound by it."`
}

// Overrides say which submissions may differ from the board's policy: submissions by keys of scope admin and by the
// named keys. The zero value allows none.
type Overrides struct {
	Keys     []string `json:"keys,omitempty" flag:"override-keys" label:"Keys that may override" items:"0,100" want:"at most 100 keys" doc:"Ids of keys, besides those of scope admin, whose submissions may override the policy. env:write is all keys of scope write in the server's settings."`
	Ops      []Policy `json:"ops,omitempty" flag:"override-ops" label:"Policies that may be used" words:"best,latest,sum" items:"0,3" doc:"What submissions may put in the place of the policy."`
	KeepTime bool     `json:"keep_time,omitzero" flag:"override-keep-time" label:"The time may be kept" default:"false" doc:"Whether submissions may keep the time of a score that stays."`
}

// MaxOverrideKeys is how many keys Overrides may name.
const MaxOverrideKeys = 100

// Defaults and bounds of the rules.
const (
	DefaultTopN        = 1000
	MaxTopN            = 100_000
	DefaultCacheTTL    = "24h"
	DefaultIncremental = "10s"
	Off                = "off"
	MinCacheTTL        = time.Minute
	MinIncremental     = 100 * time.Millisecond
	MaxSeasons         = 1000
)

// WithDefaults returns the rules with their defaults filled in.
func (r Rules) WithDefaults() Rules {
	r.Order = cmp.Or(r.Order, OrderDesc)
	r.Policy = cmp.Or(r.Policy, PolicyBest)
	r.Mode = cmp.Or(r.Mode, ModeStrict)
	r.TimeZone = cmp.Or(r.TimeZone, "UTC")
	r.Visibility = cmp.Or(r.Visibility, VisibilityPublic)
	r.TopN = cmp.Or(r.TopN, DefaultTopN)
	r.Refresh.Incremental = cmp.Or(r.Refresh.Incremental, DefaultIncremental)
	r.CacheTTL = cmp.Or(r.CacheTTL, DefaultCacheTTL)
	r.Tiebreak = r.Tiebreak.withDefaults()
	r.Derive = r.Derive.withDefaults()
	r.Notify = r.Notify.withDefaults()
	if r.Display != nil && *r.Display == (Display{}) {
		r.Display = nil
	}
	if r.Face != nil && *r.Face == (Face{}) {
		r.Face = nil
	}
	if o := r.Overrides; o != nil && len(o.Keys)+len(o.Ops) == 0 && !o.KeepTime {
		r.Overrides = nil
	}
	if p := r.Players; p != nil && *p == (Players{Submit: p.Submit}) && (p.Submit == "" || p.Submit == PlayersSubmitNone) {
		r.Players = nil
	}
	if len(r.Windows) == 0 {
		r.Windows = []Window{WindowAllTime}
	}
	return r
}

// PlayersRead reports whether players may read their own entries on the board, also where the board is private.
func (r *Rules) PlayersRead() bool { return r.Players != nil && r.Players.Read }

// PlayersSubmit reports whether players may submit scores for themselves.
func (r *Rules) PlayersSubmit() bool {
	return r.Players.submits()
}

// NeedsPlay reports whether players submit with a play.
func (r *Rules) NeedsPlay() bool { return r.Players.needPlay() }

// RulesOfParts returns the rules, as JSON pointers, that features carry out.
func RulesOfParts(r *Rules) (pointers []string) {
	for _, rule := range []struct {
		pointer string
		set     bool
	}{
		{"/record", r.Record != RecordNone},
		{"/players/submit", r.NeedsPlay()},
		{"/review", r.Review != nil},
		{"/metadata", r.Metadata != nil},
		{"/derive", r.Derive != nil},
	} {
		if rule.set {
			pointers = append(pointers, rule.pointer)
		}
	}
	return pointers
}

// KeepsMetadata reports whether entries may have metadata.
func (r *Rules) KeepsMetadata() bool { return r.Metadata != nil && r.Derive == nil }

// TTL returns CacheTTL as a duration. The rules must have passed Check.
func (r *Rules) TTL() time.Duration {
	d, err := time.ParseDuration(r.CacheTTL)
	if err != nil {
		return 24 * time.Hour
	}
	return d
}

// IncrementalEvery returns the interval of the incremental refresh, 0 when it is off. The rules must have passed Check.
func (r *Rules) IncrementalEvery() time.Duration {
	d, err := time.ParseDuration(r.Refresh.Incremental)
	if err != nil {
		return 0
	}
	return d
}

// Calendar returns the calendar of the rules. It fails with ErrUnknownRule when this system does not know the time zone; the
// calendar then knows the windows that need none.
func (r *Rules) Calendar() (Calendar, error) {
	zone, err := loadZone(r.TimeZone)
	if err != nil {
		err = fmt.Errorf("%w: /time_zone: %w", ErrUnknownRule, err)
	}
	return Calendar{zone: zone, seasons: r.Seasons}, err
}

// loadZone returns a time zone. It returns nil and an error if this system does not know the name, or if the name
// stands for the machine's local clock.
func loadZone(name string) (*time.Location, error) {
	if name == "Local" || name == "localtime" {
		return nil, fmt.Errorf("%s is another time zone on each machine", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	return zone, nil
}

// checkZone reports a time zone that this system does not know, or that other systems may not know: the folders posix and right, which
// counts leap seconds, and posixrules are not everywhere.
func (r *Rules) checkZone(fail failFunc) {
	folder, _, _ := strings.Cut(r.TimeZone, "/")
	if _, err := loadZone(r.TimeZone); err != nil || slices.Contains([]string{"posix", "right", "posixrules"}, folder) {
		fail("/time_zone", "want the name of an IANA time zone, such as Europe/Berlin")
	}
}
