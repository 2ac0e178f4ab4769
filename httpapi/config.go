package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
)

// Config is what an API needs. Boards to Health are required, the rest has defaults.
type Config struct {
	Boards   Boards
	Catalog  Catalog
	Rankings leaderboard.Rankings
	Combined leaderboard.CombinedRankings
	Pasts    leaderboard.Pasts
	Records  SubmissionRecords
	// Fresh says whether an answer about a period may still go out, after something slow came between. nil: always.
	Fresh func(period int64, r leaderboard.Revision) bool
	// Changed blocks until a period has something newer than a revision, or is gone. It ends with ctx, with an error. nil:
	// streams look once a second.
	Changed func(ctx context.Context, period int64, than leaderboard.Revision) error
	Writer  Writer
	// Admit says whether the writer would refuse a submission of about so many bytes for a board now ("": for several
	// boards), so that its body need not be read: nil, or what Writer.Submit would return, an ErrOverloaded or
	// ErrUnavailable. It reserves nothing, never blocks and costs next to nothing. nil admits everything.
	Admit         func(board string, bytes int64) error
	Periods       Periods
	Profiles      Profiles
	Friends       Friends
	Eraser        Eraser
	Rebuilds      Rebuilds
	HiddenMembers HiddenMembers
	Overview      Overview
	Build         Build
	Audit         Audit
	Derived       Derived
	// Verify compares the Redis copy of a period with the database at one seq.
	Verify func(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error)
	// Export reads all entries of a period in one state: begin gets the state first, then entries gets them in order,
	// best first, in parts of at most 1,000. An error of either ends the export and is returned as it is; otherwise
	// ErrPeriodNotFound, ErrUnavailable, ErrOverloaded.
	Export func(ctx context.Context, ref leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error
	// Health says how the process and every dependency ("mysql", "redis") stand. The text of an error is shown only when
	// it is a Reason.
	Health func(ctx context.Context) Health

	// Keys are the bearer keys of the settings, Keyring has the others; it may be nil. Without any, only public boards can
	// be read.
	Keys    []SettingsKey
	Keyring Keyring
	// Quotas bound what callers do; nil: nobody does.
	Quotas Quotas
	// Proxies are the addresses of proxies that say where a request comes from.
	Proxies []netip.Prefix
	// CORSOrigins are the origins whose pages may use the routes of /v1, as browsers send them ("https://game.example"), or
	// "*" alone for those of all; nil: none.
	CORSOrigins []string
	// APIKeys changes the keys that Keyring has.
	APIKeys APIKeys
	// CheckRules finds what Rules.Check leaves to others: the cron expression. May be nil.
	CheckRules func(leaderboard.Rules) []leaderboard.FieldError
	// Pages makes what serves the pages for people, which ask api for what they show; nil: there are none.
	Pages func(api http.Handler) http.Handler
	// Metrics serves /metrics; nil: it is not here.
	Metrics http.Handler
	// OnRequest hears of every answered request.
	OnRequest func(Answered)
	// Tracer records requests of /v1, streams aside; nil: none is.
	Tracer trace.Tracer
	// Logger gets, of what belongs to a request, a context with its span.
	Logger *slog.Logger

	MaxBody        int64         // bytes of a request body, default 1 MiB; some routes take less
	BodyMemory     int64         // bytes that bodies of requests on their way in may take, default 64 MiB
	AnswerMemory   int64         // bytes that answers may take that clients have not taken yet, default 64 MiB; beyond: 503 overloaded
	BodyTimeout    time.Duration // for a body to come, longer only while it comes at a least rate; default 5s
	MaxConcurrent  int           // requests of /v1 served at the same time, default 4096; beyond: 503 overloaded
	MaxStreams     int           // streams that are open at once, default 4096; beyond: 503 overloaded
	MaxExports     int           // exports made at the same time, each with a connection to MySQL; default 2, beyond: 503
	ExportStall    time.Duration // in which the client of an export must take a part of it, default 30s
	RequestTimeout time.Duration // for one request, rebuilds with ?wait= aside; default 10s
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnRequest == nil {
		c.OnRequest = func(Answered) {}
	}
	if c.Fresh == nil {
		c.Fresh = func(int64, leaderboard.Revision) bool { return true }
	}
	if c.Changed == nil {
		c.Changed = func(ctx context.Context, _ int64, _ leaderboard.Revision) error { <-ctx.Done(); return ctx.Err() }
	}
	if c.MaxStreams <= 0 {
		c.MaxStreams = 4096
	}
	if c.CheckRules == nil {
		c.CheckRules = func(leaderboard.Rules) []leaderboard.FieldError { return nil }
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 1 << 20
	}
	if c.BodyMemory <= 0 {
		c.BodyMemory = 64 << 20
	}
	if c.AnswerMemory <= 0 {
		c.AnswerMemory = 64 << 20
	}
	if c.BodyTimeout <= 0 {
		c.BodyTimeout = 5 * time.Second
	}
	if c.Admit == nil {
		c.Admit = func(string, int64) error { return nil }
	}
	if c.MaxConcurrent <= 0 {
		c.MaxConcurrent = 4096
	}
	if c.MaxExports <= 0 {
		c.MaxExports = 2
	}
	if c.ExportStall <= 0 {
		c.ExportStall = 30 * time.Second
	}
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = 10 * time.Second
	}
	return c
}
