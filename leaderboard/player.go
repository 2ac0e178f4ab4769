package leaderboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// Players is the rule that says what players may do on a board with their own tokens; nil: they may do what anyone may.
type Players struct {
	Read    bool          `json:"read,omitzero" flag:"players-read" label:"Players read" default:"false" doc:"Whether players read their own entry and those around it, on a private board too."`
	Submit  PlayersSubmit `json:"submit,omitempty" flag:"players-submit" label:"Players submit" words:"none,own,play" default:"none" doc:"Whether players submit their own scores with a token, and each with a play. own: scores for themselves. play: these, each once for a play that they begin with POST /v1/boards/{board}/plays. none: keys submit."`
	MinTime string        `json:"min_time,omitempty" flag:"play-min-time" label:"Least time of a play" default:"0s" example:"10s" doc:"How long a play takes at least, a Go duration such as 10s. With submit play."`
	MaxTime string        `json:"max_time,omitempty" flag:"play-max-time" label:"Greatest time of a play" default:"1h" example:"10m" doc:"How long a play takes at most, a Go duration up to 24h. With submit play."`
}

// PlayersSubmit is the rule for players who submit their own scores.
type PlayersSubmit string

// Only a key submits for others.
const (
	PlayersSubmitNone PlayersSubmit = "none"
	PlayersSubmitOwn  PlayersSubmit = "own"
	PlayersSubmitPlay PlayersSubmit = "play" // once for each play that they begin
)

// submits reports whether players submit; false for a nil Players.
func (p *Players) submits() bool {
	return p != nil && (p.Submit == PlayersSubmitOwn || p.Submit == PlayersSubmitPlay)
}

// needPlay reports whether players submit with a play.
func (p *Players) needPlay() bool { return p != nil && p.Submit == PlayersSubmitPlay }

// check reports the faults of the rule.
func (p *Players) check(fail failFunc, derived bool) {
	if p == nil {
		return
	}
	if derived && p.Submit != "" && p.Submit != PlayersSubmitNone {
		fail("/players/submit", "nothing is submitted to a derived board")
	}
	p.checkTimes(fail)
}

// PlayID names a play. It is random, so that it cannot be guessed.
type PlayID [16]byte

// NewPlayID returns an ID that no other play has.
func NewPlayID() (id PlayID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// String returns the ID as its token has it.
func (id PlayID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParsePlayID parses the text of String.
func ParsePlayID(s string) (id PlayID, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return id, err == nil && copy(id[:], b) == len(id) && len(b) == len(id)
}

// Play is the last play that a member began on a board. A member has at most one play on a board.
type Play struct {
	ID          PlayID
	Board       string
	Member      string
	StartedTime Micros // database clock
	Refusals    int    // submissions with it that were refused
}

// MaxPlayRefusals is how many submissions with a play may be refused: the last of them ends it.
const MaxPlayRefusals = 3

// Bounds of the times of a play.
const (
	DefaultPlayTime = time.Hour      // of Players.MaxTime
	MaxPlayTime     = 24 * time.Hour // of Players.MaxTime
)

// Times returns the least and the greatest time of a play. The rule must have passed its check.
func (p *Players) Times() (least, most time.Duration) {
	least, _ = time.ParseDuration(p.MinTime) // "" is 0
	most = DefaultPlayTime
	if d, err := time.ParseDuration(p.MaxTime); err == nil {
		most = d
	}
	return least, most
}

// checkTimes reports the faults in the times of a play.
func (p *Players) checkTimes(fail failFunc) {
	if p.Submit != PlayersSubmitPlay {
		if p.MinTime != "" || p.MaxTime != "" {
			fail("/players/submit", "min_time and max_time are of a play, which submit does not want")
		}
		return
	}
	if d, err := time.ParseDuration(p.MinTime); p.MinTime != "" && (err != nil || d < 0 || d >= MaxPlayTime) {
		fail("/players/min_time", "want a duration from 0s to %s, such as 10s", MaxPlayTime)
		return
	}
	if d, err := time.ParseDuration(p.MaxTime); p.MaxTime != "" && (err != nil || d > MaxPlayTime) {
		fail("/players/max_time", "want a duration up to %s, such as 10m", MaxPlayTime)
		return
	}
	if least, most := p.Times(); least >= most {
		fail("/players/max_time", "want more than min_time, it is %s", most)
	}
}

// Player is a member who calls by a token.
type Player struct {
	Member string
	// Boards are the boards that the token is for, in the form of a Key's. All: the token is for all boards.
	Boards []string
	All    bool
	// Via is the source of the player's identity, for records: "issuer:<name>", or "token:<id of the API key that made
	// the token>".
	Via string
	// Owner is the player's name in the stored idempotency keys of a request; it does not reveal the member.
	Owner string
	Quota Quota // of the issuer, shared by all of its players
}

// Covers reports whether the token is for a board.
func (p *Player) Covers(board string) bool { return p.All || covers(p.Boards, board) }

// PlayerOwner returns Player.Owner of a member who is known by via.
func PlayerOwner(via, member string) string {
	sum := sha256.Sum256([]byte(via + "\x00" + member))
	return "p" + keyText(sum[:10])
}

// TokenError is the refusal of a player's token. The same token is refused again.
type TokenError struct {
	Detail string // for the caller
	// Signed: the signature is right, so the token was good once or elsewhere, and nothing was guessed.
	Signed bool
}

func (e *TokenError) Error() string { return e.Detail }
