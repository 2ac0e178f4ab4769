package httpapi

import (
	"cmp"
	"time"
)

// Limits bound the resources of requests. A field that is 0 has its default.
type Limits struct {
	MaxBody        int64         // bytes of a request body, default 1 MiB; some routes take less
	BodyMemory     int64         // bytes that bodies of requests on their way in may take, default 64 MiB
	AnswerMemory   int64         // bytes of answers that clients have not read yet, default 64 MiB; beyond: 503 overloaded
	BodyTimeout    time.Duration // for a body to come, longer only while it comes at a least rate; default 5s
	MaxConcurrent  int           // requests of /v1 served at the same time, default 4096; beyond: 503 overloaded
	MaxStreams     int           // streams that are open at once, default 4096; beyond: 503 overloaded
	RequestTimeout time.Duration // for one request, rebuilds with ?wait= aside; default 10s
	StandingWait   time.Duration // for standings after a commit, default 50ms; later standings are null
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxBody:        cmp.Or(l.MaxBody, 1<<20),
		BodyMemory:     cmp.Or(l.BodyMemory, 64<<20),
		AnswerMemory:   cmp.Or(l.AnswerMemory, 64<<20),
		BodyTimeout:    cmp.Or(l.BodyTimeout, 5*time.Second),
		MaxConcurrent:  cmp.Or(l.MaxConcurrent, 4096),
		MaxStreams:     cmp.Or(l.MaxStreams, 4096),
		RequestTimeout: cmp.Or(l.RequestTimeout, 10*time.Second),
		StandingWait:   cmp.Or(l.StandingWait, 50*time.Millisecond),
	}
}
