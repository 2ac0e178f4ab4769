package topn

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

const (
	listingFormat  = "1"
	listingsAtOnce = 4 // that are being written
	listingTimeout = time.Second
	// listingRenewals is how often a listing that stays the same is written within its lifetime.
	listingRenewals = 10
	listingsKnown   = 10_000
	// goneVersion is the version of a deleted board. No version is higher; a number of Lua holds it exactly.
	goneVersion = 1 << 52
)

//go:embed listing.lua
var listingLua string

// Listings are boards with their current periods, as processes read them from the database, kept in Redis for a while. A
// process that had not read a board before the database went away finds it there. Writing them is best effort, and never
// replaces the listing of a newer version of the board. All methods may be called concurrently.
type Listings struct {
	client Client
	prefix string
	limit  time.Duration
	script *redis.Script
	places chan struct{}

	mu      sync.Mutex
	written map[string]writtenListing
}

// writtenListing is the listing that this process wrote last for a board.
type writtenListing struct {
	id, version int64
	periods     []int64
	at          time.Time
}

// storedListing is the form in Redis, in gob: moments are numbers there, so that any of them can be written.
type storedListing struct {
	Board   []byte             // in JSON, as the database keeps its rules
	Clock   leaderboard.Micros // of the database, about when it was written
	Periods []storedPeriod
}

// storedPeriod is a period with the field names of v0.1.1, which gob writes: Incarnation was History.
type storedPeriod struct {
	ID, History, BoardID int64
	Window               leaderboard.Window
	Label                string
	StartsAt, EndsAt     leaderboard.Micros
	State                leaderboard.PeriodState
	LastSeq, EntryCount  int64
	Committed            leaderboard.Micros
}

func storePeriod(p leaderboard.Period) storedPeriod {
	return storedPeriod{p.ID, p.Incarnation, p.BoardID, p.Window, p.Label, p.StartsAt, p.EndsAt, p.State, p.LastSeq, p.EntryCount, p.Committed}
}

func (p storedPeriod) period() leaderboard.Period {
	return leaderboard.Period{
		ID: p.ID, Incarnation: p.History, BoardID: p.BoardID, Window: p.Window, Label: p.Label, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
		State: p.State, LastSeq: p.LastSeq, EntryCount: p.EntryCount, Committed: p.Committed,
	}
}

func encodeListing(l *leaderboard.Listing) ([]byte, error) {
	board, err := json.Marshal(l.Board)
	if err != nil {
		return nil, err
	}
	s := storedListing{Board: board, Clock: l.Clock}
	for _, p := range l.Periods {
		s.Periods = append(s.Periods, storePeriod(p))
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

func decodeListing(value string) (leaderboard.Listing, error) {
	var s storedListing
	if err := gob.NewDecoder(strings.NewReader(value)).Decode(&s); err != nil {
		return leaderboard.Listing{}, err
	}
	l := leaderboard.Listing{Clock: s.Clock}
	for _, p := range s.Periods {
		l.Periods = append(l.Periods, p.period())
	}
	err := json.Unmarshal(s.Board, &l.Board)
	return l, err
}

// NewListings does no I/O. prefix begins every key, "lb:" when empty. Listings live for limit.
func NewListings(client Client, prefix string, limit time.Duration) *Listings {
	return &Listings{
		client: inBackground(client), prefix: cmp.Or(prefix, "lb:"), limit: limit, script: redis.NewScript(listingLua),
		places: make(chan struct{}, listingsAtOnce), written: map[string]writtenListing{},
	}
}

func (l *Listings) key(board string) string { return l.prefix + "board:" + board }

// Looked takes a board that the database has just described. It does not block: a listing that is new is written in the
// background, or at a later call.
func (l *Listings) Looked(listing leaderboard.Listing) {
	next := writtenListing{id: listing.Board.ID, version: listing.Board.Version, at: time.Now()}
	for _, p := range listing.Periods {
		next.periods = append(next.periods, p.ID)
	}
	l.mu.Lock()
	last, ok := l.written[listing.Board.Name]
	l.mu.Unlock()
	if ok && last.same(&next) && next.at.Sub(last.at) < l.limit/listingRenewals {
		return
	}
	select {
	case l.places <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-l.places }()
		ctx, cancel := context.WithTimeout(context.Background(), listingTimeout)
		defer cancel()
		if l.write(ctx, &listing) == nil {
			l.wrote(listing.Board.Name, next)
		}
	}()
}

func (w *writtenListing) same(other *writtenListing) bool {
	return w.id == other.id && w.version == other.version && slices.Equal(w.periods, other.periods)
}

func (l *Listings) wrote(board string, w writtenListing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.written[board]; !ok && len(l.written) >= listingsKnown {
		clear(l.written)
	}
	l.written[board] = w
}

func (l *Listings) write(ctx context.Context, listing *leaderboard.Listing) error {
	value, err := encodeListing(listing)
	if err != nil {
		return fmt.Errorf("topn: listing of board %s: %w", listing.Board.Name, err)
	}
	return l.put(ctx, listing.Board.Name, strconv.FormatInt(listing.Board.ID, 10), listing.Board.Version, value)
}

func (l *Listings) put(ctx context.Context, board, id string, version int64, value []byte) error {
	err := l.script.Run(ctx, l.client, []string{l.key(board)}, id, version, l.limit.Milliseconds(), listingFormat, value).Err()
	if err != nil {
		return fmt.Errorf("topn: listing of board %s: %w", board, err)
	}
	return nil
}

// Changed takes a board that this process has changed: no listing of an earlier version is found from now on.
func (l *Listings) Changed(ctx context.Context, b *leaderboard.Board) error {
	return l.put(ctx, b.Name, strconv.FormatInt(b.ID, 10), b.Version, nil)
}

// Deleted takes a board that this process has deleted: no listing of it is found from now on.
func (l *Listings) Deleted(ctx context.Context, board string) error {
	return l.put(ctx, board, "", goneVersion, nil)
}

// Find returns a listing, its age and how long it may still be used; ok is false when it finds no listing.
func (l *Listings) Find(ctx context.Context, board string) (listing leaderboard.Listing, age, left time.Duration, ok bool, err error) {
	pipe := l.client.TxPipeline()
	fields := pipe.HMGet(ctx, l.key(board), "format", "listing")
	lives := pipe.PTTL(ctx, l.key(board))
	if _, err := pipe.Exec(ctx); err != nil {
		return listing, 0, 0, false, fmt.Errorf("topn: listing of board %s: %w", board, err)
	}
	format, _ := fields.Val()[0].(string)
	value, _ := fields.Val()[1].(string)
	left = lives.Val()
	if format != listingFormat || value == "" || left <= 0 || left > l.limit {
		return listing, 0, 0, false, nil
	}
	if listing, err = decodeListing(value); err != nil {
		return listing, 0, 0, false, fmt.Errorf("topn: listing of board %s: %w", board, err)
	}
	return listing, l.limit - left, left, true, nil
}
