package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"

	"leaderboard/internal/guard"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Config has the dependencies and settings of an API. Catalog to Health are required, the rest has defaults.
type Config struct {
	// The dependencies: all methods may be called concurrently, and block until they have an answer or ctx ends. Any of them may
	// fail with ErrUnavailable or ErrOverloaded.
	Catalog   Catalog
	Rankings  Rankings
	Feed      Feed
	Writer    Writer
	Boards    Boards
	Periods   Periods
	Refresher Refresher
	Runs      Runs
	Derived   SourceVerifier
	Hidden    Hides
	Erasures  Erasures
	Friends   Friends
	Plays     Plays
	Status    BoardStatus

	// Streams bound answers without an end; nil: as many as Limits has.
	Streams *Streams
	Build   Build
	// Health returns the health of the process and of every dependency ("mysql", "redis"). The text of an error is shown only
	// when it is a Reason.
	Health func(ctx context.Context) Health

	// SettingsKeys are the bearer keys of the settings, Keyring has the others; it may be nil. Without any, only public boards
	// can be read.
	SettingsKeys []SettingsKey
	Keyring      Keyring
	// Players knows players by their tokens; nil: it knows none.
	Players Players
	// Sessions are how the sessions of browsers are found; the zero value finds none.
	Sessions Sessions
	// Base is the path below which all of the service is, such as /games; "": the root.
	Base string
	// Quotas bound what callers do; nil: no bounds.
	Quotas Quotas
	// Proxies are the addresses of proxies whose X-Forwarded-For names the client.
	Proxies []netip.Prefix
	// CORSOrigins are the origins whose pages may use the routes of /v1, as browsers send them ("https://game.example"), or "*"
	// alone for all origins; nil: none.
	CORSOrigins []string
	// Purge returns how much of deleted boards and given-up periods is left to delete; nil: nothing.
	Purge func() leaderboard.Purge
	// CheckRules checks the rule that Rules.Check leaves out: the cron expression. May be nil.
	CheckRules func(leaderboard.Rules) []leaderboard.FieldError
	// Pages makes the handler of the pages for people, which read from api; nil: no pages.
	Pages func(api http.Handler) http.Handler
	// Shows are the data that features show with entries.
	Shows []Show
	// Routes are the routes of features.
	Routes []Route
	// Metrics serves /metrics; nil: it is not here.
	Metrics http.Handler
	// Observer hears of answered requests and of standings; nil: nobody does.
	Observer Observer
	// Tracer records requests of /v1, streams aside; nil: it records none.
	Tracer trace.Tracer
	// Logger gets a context with the span of the request that a message belongs to.
	Logger *slog.Logger

	Limits Limits
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Streams == nil {
		c.Streams = NewStreams(c.Limits.MaxStreams)
	}
	if c.Purge == nil {
		c.Purge = func() leaderboard.Purge { return leaderboard.Purge{} }
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Plays == nil {
		c.Plays = noPlays{}
	}
	if c.Players == nil {
		c.Players = noPlayers{}
	}
	if c.CheckRules == nil {
		c.CheckRules = func(leaderboard.Rules) []leaderboard.FieldError { return nil }
	}
	return c
}

// shows returns all Shows in the order in which they are looked up: data kept with entries first, since their look-up may read the
// answer again.
func (c *Config) shows() []Show {
	about := slices.DeleteFunc(slices.Clone(c.Shows), func(show Show) bool { return !isAbout(show) })
	return slices.Concat(slices.DeleteFunc(slices.Clone(c.Shows), isAbout), about)
}

// The parts that decide which requests get in.
type (
	// SettingsKey is a bearer key of the server's settings.
	SettingsKey = guard.SettingsKey
	// Keyring finds the keys of the database.
	Keyring = guard.Keyring
	// Players knows players by their tokens.
	Players = guard.Tokens
	// Sessions is how the sessions of browsers are found.
	Sessions = guard.Sessions
	// Bearer is the credential of a request: an API key, a player's token, or none.
	Bearer = guard.Bearer
	// Quotas bound how much each caller does.
	Quotas = guard.Quotas
)
