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
	Version     int64  // grows by one with each change of the rules
	Rules       Rules
	CreatedTime Micros
	UpdatedTime Micros

	// Unknown is the first rule of the board, as a JSON pointer, that this server does not know: a newer version made it, or it
	// names a time zone that this machine does not have. It is "" when Rules are all that there are.
	Unknown string
}

// CheckWritable returns an ErrUnknownRule when the board has a rule that this server does not know. It may be read then,
// by the rules that are known; changes of it, its entries and its periods are left to a server that knows the rule, but for those that
// CheckMovable allows.
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

// RulesChange returns the new rules of a board, given the board as it is, nil when it does not exist. It must not write
// to either.
type RulesChange func(b *Board) (Rules, error)

// Visibility tells who may read a board.
type Visibility string

// Anyone may read a public board, a private one needs a key.
const (
	VisibilityPublic  Visibility = "public"
	VisibilityPrivate Visibility = "private"
)

// Policy tells how a submission changes the entry that the member has.
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
	Title      string     `json:"title"`
	Order      Order      `json:"order"`
	Policy     Policy     `json:"policy"`
	Mode       Mode       `json:"mode"`
	Windows    []Window   `json:"windows"`
	TimeZone   string     `json:"time_zone"` // IANA name
	Visibility Visibility `json:"visibility"`
	TopN       int        `json:"top_n"` // entries in the Redis copy
	Refresh    Refresh    `json:"refresh"`
	CacheTTL   string     `json:"cache_ttl"` // Go duration: an unread copy expires after it
	Limits     Limits     `json:"limits"`
	Tiebreak   Tiebreak   `json:"tiebreak"`
	StartsAt   *Micros    `json:"starts_at,omitempty"` // submissions before it are rejected
	EndsAt     *Micros    `json:"ends_at,omitempty"`   // submissions from it on are rejected

	// Seasons are the periods of window season, in order.
	Seasons []SeasonRule `json:"seasons,omitempty"`
	// Derive makes it a derived board.
	Derive *Derive `json:"derive,omitempty"`
	// Keep is how many closed periods are kept, by window; without an entry all of them are.
	Keep map[Window]int `json:"keep,omitempty"`
	// Display tells how people are shown its scores; nil: as whole numbers.
	Display *Display `json:"display,omitempty"`
	// Face tells how the board's page looks; nil: as the other pages do.
	Face *Face `json:"face,omitempty"`
	// Labels select boards.
	Labels Labels `json:"labels,omitempty"`
	// StrictIDs rejects submissions for members whose ids are not printable ASCII.
	StrictIDs bool `json:"strict_ids,omitzero"`
	// Resident says which periods servers keep whole in memory.
	Resident Resident `json:"resident,omitempty"`
	// Record tells which submissions are recorded.
	Record Record `json:"record,omitempty"`
	// RecordTTL is how long the record of a submission is kept, a Go duration; "": DefaultRecordTTL.
	RecordTTL string `json:"record_ttl,omitempty"`
	// Overrides say which submissions may do otherwise than Policy says; nil: none.
	Overrides *Overrides `json:"overrides,omitempty"`
	// Players tells what players may do with tokens of their own.
	Players *Players `json:"players,omitempty"`
	// Notify tells which members learn that another one passed them.
	Notify *Notify `json:"notify,omitempty"`
	// Metadata lets submissions have metadata.
	Metadata *Metadata `json:"metadata,omitempty"`
	// Review tells which submissions wait for an admin.
	Review *Review `json:"review,omitempty"`
}

// Resident tells whether servers keep the periods of a board whole in memory.
type Resident string

// By default, servers keep the periods that are read most.
const (
	ResidentAuto   Resident = ""
	ResidentAlways Resident = "always" // the current periods as soon as they are read, before those of other boards
	ResidentNever  Resident = "never"
)

// Record tells which submissions of a board are recorded, with their caller and their outcome.
type Record string

// Each record costs a row.
const (
	RecordNone    Record = ""
	RecordApplied Record = "applied" // those that changed an entry
	RecordAll     Record = "all"     // also those that changed nothing or were rejected
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

// Refresh tells when the Redis copy is renewed, besides the write-through after each commit.
type Refresh struct {
	Full        string `json:"full"`        // cron expression (5 fields, UTC), "" for none
	Incremental string `json:"incremental"` // Go duration between catch-ups, "off" for none
	Dynamic     string `json:"dynamic"`     // pairs seconds/changes, such as "900/1 300/10", "" for none
}

// Limits bound the scores of a board; nil is no limit. A sum that lies outside of them, because they were narrowed
// later, may move towards them. MaxDelta bounds changes of a score: not a change that policy best ignores, and not the
// first score of a member in a period with best and latest.
type Limits struct {
	MinScore *int64 `json:"min_score,omitempty"`
	MaxScore *int64 `json:"max_score,omitempty"`
	MaxDelta *int64 `json:"max_delta,omitempty"` // greatest change of a score by one submission
	// PerSecond is the greatest score of a play, for each second that it took; with policy sum the greatest amount.
	PerSecond *int64 `json:"per_second,omitempty"`
}

// Overrides say which submissions may do otherwise than the board's policy says, by keys of scope admin and by those
// named. The zero value allows none.
type Overrides struct {
	Keys     []string `json:"keys,omitempty"`     // ids of keys, at most MaxOverrideKeys
	Ops      []Policy `json:"ops,omitempty"`      // what may take the place of the policy
	KeepTime bool     `json:"keep_time,omitzero"` // a created_time may be kept
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
	MaxTitle           = 200 // bytes
	MinCacheTTL        = time.Minute
	MinIncremental     = 100 * time.Millisecond
	MaxKeep            = 1_000_000
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

// RulesOfParts returns the rules, as JSON pointers, that the transaction of submissions leaves to parts of features.
func RulesOfParts(r *Rules) (pointers []string) {
	for _, rule := range []struct {
		pointer string
		set     bool
	}{
		{"/record", r.Record != RecordNone}, {"/players/submit", r.NeedsPlay()}, {"/review", r.Review != nil}, {"/metadata", r.Metadata != nil},
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

// loadZone returns a time zone; nil and an error when this system does not know it, or when its name is that of the clock of each
// machine.
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
