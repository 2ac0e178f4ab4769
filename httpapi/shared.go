package httpapi

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/rs/cors"

	"leaderboard/internal/guard"
	"leaderboard/internal/trace"
	"leaderboard/internal/wire"
)

// shared is the part of an API that all calls share.
type shared struct {
	base     string // path below which the service is; "": the root
	logger   *slog.Logger
	observer Observer
	tracer   trace.Tracer // nil: none

	guard  *guard.Guard
	writer admitter
	limits Limits

	traffic traffic
	buffers sync.Pool // *[]byte, for bodies out
	zippers wire.Zippers
	values  headerValues
	shows   []Show
	cors    *cors.Cors   // nil: pages of other origins may not use the API
	pages   http.Handler // of Config.Pages; nil: no pages
}

// admitter refuses submissions before their bodies are read, as Writer does.
type admitter interface {
	Admit(board string, bytes int64) error
}

// The header fields of answers that more than one handler knows.
const (
	HeaderCursor   = "Leaderboard-Cursor"   // where the change feed continues after an export, or after its last line
	headerReplayed = "Idempotency-Replayed" // the request was carried out before under its Idempotency-Key
)

// headerValues are values of header fields that many answers have, each a list of one. They must not be changed.
type headerValues struct {
	json, gzip, vary, noStore, private, public, nosniff []string
}

// newHeaderValues returns the values of header fields that many answers have; vary is the value of Vary.
func newHeaderValues(vary string) headerValues {
	return headerValues{
		json: []string{wire.TypeJSON}, gzip: []string{"gzip"}, vary: []string{vary}, noStore: []string{"no-store"},
		private: []string{"private, no-cache"}, public: []string{"public, no-cache"}, nosniff: []string{"nosniff"},
	}
}

// cacheControl lets caches keep an answer only to ask whether it still holds, and not at all while it is stale.
func (v *headerValues) cacheControl(stale, private bool) []string {
	switch {
	case stale:
		return v.noStore
	case private:
		return v.private
	default:
		return v.public
	}
}

// buffer takes an empty buffer, to be released.
func (s *shared) buffer() *[]byte {
	if buf, ok := s.buffers.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, 0, 4<<10)
	return &buf
}

// release gives a buffer back unless it has grown beyond the size that a usual request needs.
func (s *shared) release(buf *[]byte) {
	if cap(*buf) <= 256<<10 {
		s.buffers.Put(buf)
	}
}
