// Package features defines a feature. A feature can be understood alone: it is a folder below this one, with its nouns,
// SQL, handlers, part in a submission and tests. It stands on the engine (store, cache, httpapi and the packages below
// them), which names no feature, and imports no other feature. internal/app/installed lists all of them: to remove a
// feature, delete its folder and its line there.
package features

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"leaderboard/cache/feed"
	"leaderboard/httpapi"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/commit"
)

// Feature is the value that a folder registers. It has only the members that it needs.
type Feature struct {
	// Name is the name of the folder.
	Name string
	// Part is the feature's part in the transaction of submissions; nil: no part.
	Part commit.Part
	// Open connects the feature to the engine of a process, once. It does no I/O. The engine may be empty, for tests that
	// only look at the members of a feature. nil: the feature is its Part.
	Open func(*Engine) Opened
	// Settings points to the feature's settings of a server: a struct with the tags of package settings, which Open reads.
	// nil: no settings.
	Settings any
}

// Server is the settings that features share.
type Server struct {
	Base           string            // path of the service, such as /games; "": the root
	Header         string            // of pages, unless their settings have a name
	AllowPrivate   bool              // the targets of features' connections may have private addresses
	KnowsAddresses bool              // the addresses of clients behind proxies are known
	Servers        int               // that share quotas when Redis does not answer
	Point          func(name string) // is called at named points of work, for tests; nil: nothing is
}

// Checker are settings that may contradict each other.
type Checker interface {
	// Check returns the fault of settings that are valid one by one.
	Check(Server) error
}

// Engine is the engine on which features stand.
type Engine struct {
	Server Server

	DB      *mysql.DB
	Writer  *store.Writer
	Boards  *store.Boards
	Entries *store.Entries
	Members *store.Members
	Sweeper store.Sweeper

	Catalog     httpapi.Catalog
	BoardFinder httpapi.BoardFinder
	Rankings    httpapi.Rankings
	Feed        httpapi.Feed
	Tables      *feed.Feed          // judges the tables that features hold whole, see cache.Table; nil for tools
	Streams     *httpapi.Streams    // shared by endless answers
	API         func() *httpapi.API // the API, once it is made
	Redis       redis.Cmdable       // for work in the background; nil without Redis
	// Alone asks MySQL a question that anyone may ask and no copy answers. It bounds how many go there at once, with the reads that find no
	// copy.
	Alone func(ctx context.Context, ask func(context.Context) error) error
	Clock func() (leaderboard.Micros, bool) // the database clock, as the feed last showed it; false: it is not known
	Log   *slog.Logger

	offers []any
}

// Opened is a feature that is connected to an engine.
type Opened struct {
	name string // of the feature
	// Routes are added to the table of routes.
	Routes []httpapi.Route
	// Sweep is the feature's share of the housekeeping.
	Sweep []store.Job
	// Purge are statements that delete the feature's rows of a board that is deleted, see store.Housekeeping.AddPurge.
	Purge []string
	// Committed is called after each commit of this process, in seq order per period, and must not block; nil: nothing is.
	Committed func(leaderboard.PeriodRef)
	// FollowedSeqs is how far the feature has followed the change log, see store.Housekeeping.KeepLog; nil: it follows none.
	FollowedSeqs store.FollowedSeqs
	// Board is written with the rules of a board; nil: nothing is.
	Board store.BoardChange
	// Forget is the feature's share of an erasure, before the entries of the member are removed and after it.
	Forget, ForgetAfter store.Forget
	// Data are the lists of the feature's stored data of a member.
	Data []store.Data
	// Run does background work until ctx ends. It starts when the schema is ready; nil: no background work.
	Run func(ctx context.Context)
	// Metrics are registered with the engine's metrics.
	Metrics []prometheus.Collector
	// Offers are for the engine and for features that are opened later, see Offered.
	Offers []any
	// Close ends what the feature began, after the last request and before connections are closed; nil: nothing.
	Close func()
}

// Parts returns the parts that features add to the transaction of submissions.
func Parts(list []Feature) (parts []commit.Part) {
	for _, f := range list {
		if f.Part != nil {
			parts = append(parts, f.Part)
		}
	}
	return parts
}

// Open opens features on an engine, in their order. Later features find the offers of earlier ones by Offered.
func Open(list []Feature, e *Engine) []Opened {
	opened := make([]Opened, 0, len(list))
	for _, f := range list {
		if f.Open == nil {
			continue
		}
		o := f.Open(e)
		o.name = f.Name
		e.offers = append(e.offers, o.Offers...)
		opened = append(opened, o)
	}
	return opened
}

// On opens features on a store alone, for tools and tests, and adds their members to it. Offered finds their offers.
func On(s *store.Store, list []Feature) *Engine {
	e := &Engine{
		DB: s.Database(), Writer: s.Writer, Boards: s.Boards, Entries: s.Entries, Members: s.Members, Sweeper: s.Housekeeping.Sweeper(), BoardFinder: s.Boards,
		Alone: atOnce, Log: slog.New(slog.DiscardHandler),
	}
	opened := Open(list, e)
	for i := range opened {
		opened[i].AddTo(s)
	}
	return e
}

// atOnce asks without a bound.
func atOnce(ctx context.Context, ask func(context.Context) error) error { return ask(ctx) }

// AddTo adds the feature's share of changes of boards, of housekeeping, of erasures and of the data of a member to a store.
func (o *Opened) AddTo(s *store.Store) {
	s.Housekeeping.Add(o.Sweep...)
	s.Housekeeping.AddPurge(o.Purge...)
	if o.FollowedSeqs != nil {
		s.Housekeeping.KeepLog(o.FollowedSeqs)
	}
	if o.Board != nil {
		s.Boards.Add(o.Board)
	}
	if o.Forget != nil {
		s.Erasures.Add(o.name, o.Forget)
	}
	if o.ForgetAfter != nil {
		s.Erasures.AddAfter(o.name, o.ForgetAfter)
	}
	s.Members.AddData(o.Data...)
}

// Offer adds an offer of the program itself to the offers of features.
func (e *Engine) Offer(offer any) { e.offers = append(e.offers, offer) }

// Offered returns the first offer that is a T, or the zero value. T is an interface that the caller declares.
func Offered[T any](e *Engine) (offer T) {
	for _, o := range e.offers {
		if found, ok := o.(T); ok {
			return found
		}
	}
	return offer
}

// AllOffered returns all offers of features that are Ts, in the order of the features.
func AllOffered[T any](e *Engine) (offers []T) {
	for _, o := range e.offers {
		if found, ok := o.(T); ok {
			offers = append(offers, found)
		}
	}
	return offers
}
