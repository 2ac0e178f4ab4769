package mysql

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	// silence is for how long a server gives no answer, though it is asked, until a new connection is tried.
	silence = time.Second
	// probeEvery is between the starts of two probes while the server is away.
	probeEvery = 250 * time.Millisecond
	// probeLimit ends a probe. Only one runs at a time: servers count connections that end before they have begun, and shut
	// out an address with many (max_connect_errors).
	probeLimit = 10 * time.Second
	// recent is how long DB.Silent counts an outage that is over: errors that it caused are reported a moment later.
	recent = time.Minute
)

// A statement that waits for a lock, a change of a table or a flush is no outage: the server answers a new connection meanwhile.
// Once the server is away nothing is sent, and all connections are cut except connections that wait for the answer to COMMIT, so
// that all callers get an answer. The first answer, to a probe or to a COMMIT, ends the outage.
//
// A slow network is no outage: a probe may take twice as long as the last probe. So a network that becomes slow may be taken for
// an outage once, until the first answer, and only while few statements are sent.

// expect starts the goroutine that checks whether an answer comes, unless it runs already.
func (s *server) expect() {
	if s.probe == nil || !s.looking.CompareAndSwap(false, true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() == nil {
		s.work.Go(s.look)
	}
}

// heard records the result of a sent statement.
func (s *server) heard(sent int64, err error) {
	if ConnectionLost(err) || errors.Is(err, context.Canceled) {
		if s.failed.CompareAndSwap(0, sent) {
			s.expect()
		}
		return
	}
	s.answered.Store(s.now())
	if s.failed.Load() != 0 {
		s.failed.Store(0)
	}
	if s.isAway() {
		s.back()
	}
}

// silent returns the time of the oldest statement without an answer; 0 without waiting statements.
func (s *server) silent() int64 {
	oldest := s.failed.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if sent := c.waits(); sent != 0 && (oldest == 0 || sent < oldest) {
			oldest = sent
		}
	}
	if oldest == 0 {
		return 0
	}
	return max(oldest, s.answered.Load())
}

// look tries a new connection whenever statements stay without an answer, and ends when no statement is under way.
func (s *server) look() {
	for s.life.Err() == nil {
		since := s.silent()
		if since == 0 {
			s.looking.Store(false)
			if s.silent() == 0 || !s.looking.CompareAndSwap(false, true) {
				return
			}
			continue
		}
		if rest := silence - time.Duration(s.now()-since); rest > 0 {
			if s.pause(rest); s.answered.Load() > since {
				s.maxWait = max(s.wait, s.maxWait/2) // the network may have become faster
			}
			continue
		}
		s.try(since)
	}
}

func (s *server) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.life.Done():
	}
}

// try probes until something is answered.
func (s *server) try(since int64) {
	for s.life.Err() == nil && s.answered.Load() <= since {
		began := s.now()
		err := s.probeOnce(since)
		took := time.Duration(s.now() - began)
		if !ConnectionLost(err) && s.life.Err() == nil {
			s.maxWait = max(s.wait, 2*took)
			s.heard(began, err)
			return
		}
		s.gone(since)
		s.pause(max(0, probeEvery-took))
	}
}

// probeOnce sends one probe. When that takes too long the server is away, even if the probe succeeds later.
func (s *server) probeOnce(since int64) error {
	ctx, cancel := context.WithTimeout(s.life, probeLimit)
	defer cancel()
	late := time.AfterFunc(s.maxWait, func() { s.gone(since) })
	defer late.Stop()
	return s.probe(ctx)
}

// gone records that the server is away, unless it has answered something meanwhile.
func (s *server) gone(since int64) {
	s.mu.Lock()
	if s.answered.Load() > since || s.life.Err() != nil || !s.since.CompareAndSwap(0, since) {
		s.mu.Unlock()
		return
	}
	if s.answered.Load() > since { // the answer came between the two, and heard did not see that the server was away
		s.since.CompareAndSwap(since, 0)
		s.mu.Unlock()
		return
	}
	conns, tell := slices.Collect(maps.Keys(s.conns)), s.onAway
	s.mu.Unlock()
	s.log.Warn("MySQL does not answer", "for", time.Duration(s.now()-since).Round(time.Millisecond).String())
	for _, c := range conns {
		c.cut()
	}
	for _, t := range tell {
		t(ErrAway)
	}
}

// back notes that the server answers.
func (s *server) back() {
	s.returned.Store(s.now())
	if since := s.since.Swap(0); since != 0 {
		s.log.Info("MySQL answers again", "after", time.Duration(s.now()-since).Round(time.Millisecond).String())
	}
}

// silentOfLate reports whether the server did not answer the last statement, does not answer now, or did not answer a moment
// ago.
func (s *server) silentOfLate() bool {
	returned := s.returned.Load()
	return s.isAway() || s.failed.Load() != 0 || returned != 0 && s.now()-returned < int64(recent)
}

// notifyAway sets a function to call when the server is found to be away.
func (s *server) notifyAway(whom func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAway = append(s.onAway, whom)
}
