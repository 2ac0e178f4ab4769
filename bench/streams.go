package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	streamsOpen      = 2000
	streamReads      = 500 // a second, beside them
	streamReadConns  = 16
	streamSeconds    = 6 // of a round, with or without the streams
	eventGoal        = 250 * time.Millisecond
	streamMemoryGoal = 60 // KiB
	streamReadGoal   = "≤ 1.10"
)

// watched is a stream, and which events came when.
type watched struct {
	conn   net.Conn
	first  chan error // receives once: the first event is there, or none will be
	events []ack      // in their order; read once done
	done   chan struct{}
}

// watch opens a stream of a board's top.
func watch(addr, path string) (*watched, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET %s/stream?limit=10 HTTP/1.1\r\nHost: bench\r\n\r\n", path); err != nil {
		return nil, err
	}
	s := &watched{conn: conn, first: make(chan error, 1), done: make(chan struct{})}
	go s.read()
	return s, nil
}

// read notes the id of each event until the connection is closed.
func (s *watched) read() {
	defer close(s.done)
	resp, err := http.ReadResponse(bufio.NewReaderSize(s.conn, 2<<10), nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &statusError{resp.StatusCode, resp.Status}
	}
	if err != nil {
		s.first <- err
		return
	}
	lines := bufio.NewReaderSize(resp.Body, 4<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			if len(s.events) == 0 {
				s.first <- err
			}
			return
		}
		if seq, ok := seqOfEvent(string(line)); ok {
			if s.events = append(s.events, ack{seq, time.Now()}); len(s.events) == 1 {
				s.first <- nil
			}
		}
	}
}

// seqOfEvent reads the line that says which state an event shows: id: period.seq
func seqOfEvent(line string) (seq int64, ok bool) {
	id, ok := strings.CutPrefix(line, "id: ")
	if !ok {
		return 0, false
	}
	_, digits, _ := strings.Cut(strings.TrimSpace(id), ".")
	seq, err := strconv.ParseInt(digits, 10, 64)
	return seq, err == nil
}

// close ends the stream, after which its events may be read.
func (s *watched) close() {
	_ = s.conn.Close()
	<-s.done
}

// openStreams opens so many, and waits for the first event of each.
func openStreams(addr, path string, n int) (streams []*watched, err error) {
	for range n {
		s, err := watch(addr, path)
		if err != nil {
			return streams, err
		}
		streams = append(streams, s)
	}
	for _, s := range streams {
		if err := <-s.first; err != nil {
			return streams, fmt.Errorf("a stream: %w", err)
		}
	}
	return streams, nil
}

// delays returns how long after each acknowledgement the first event came that shows the commit, through one stream.
// Commits that no event shows any more are left out. Both are sorted by seq.
func delays(acks, events []ack) (out []time.Duration) {
	for _, a := range acks {
		for len(events) > 0 && events[0].seq < a.seq {
			events = events[1:]
		}
		if len(events) == 0 {
			return out
		}
		out = append(out, max(0, events[0].at.Sub(a.at)))
	}
	return out
}

// measureStreams measures streams of one board that changes: how late events are, what a stream takes, and what it does to
// other reads.
func (w *world) measureStreams(ctx context.Context, rep *report, _ io.Writer) error {
	round := w.seconds(streamSeconds)
	reads := load{addr: w.addr, conns: streamReadConns, rate: streamReads, length: round, request: memberRequest(benchBoard, w.members)}
	var late []time.Duration
	var alone, beside, ratios []float64
	events := 0
	for i := range 1 + w.pairs {
		calm, _, err := w.readsBeside(ctx, reads)
		if err != nil {
			return err
		}
		streams, err := openStreams(w.addr, boardPath, streamsOpen)
		var disturbed float64
		var acks []ack
		if err == nil {
			disturbed, acks, err = w.readsBeside(ctx, reads)
		}
		closeAll(streams)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // warms up
		}
		alone, beside, ratios = append(alone, calm), append(beside, disturbed), append(ratios, disturbed/calm)
		for _, s := range streams {
			late = append(late, delays(acks, s.events)...)
			events += len(s.events)
		}
	}
	perStream, err := w.memoryOfStreams(ctx)
	if err != nil {
		return err
	}
	slices.Sort(late)
	if len(late) == 0 {
		return fmt.Errorf("no event showed a commit")
	}
	mid, tail := late[len(late)/2], late[len(late)*99/100]
	rep.add(row{
		What: fmt.Sprintf("from the acknowledgement of a commit to its event, median over %s streams", thousands(streamsOpen)), Here: inMS(mid),
		Yardstick: fmt.Sprintf("p99: %s; %s events", inMS(tail), thousands(events)), Goal: "≤ " + eventGoal.String(), Met: yesNo(mid <= eventGoal),
	})
	rep.add(row{
		What: "memory of a stream (RSS of a new server)", Here: fmt.Sprintf("%.0f KiB", perStream),
		Goal: fmt.Sprintf("≤ %d KiB", streamMemoryGoal), Met: yesNo(perStream <= streamMemoryGoal),
	})
	rep.add(row{
		What: fmt.Sprintf("p99 of %d reads a second beside them", streamReads), Here: fmt.Sprintf("%.2f ms", median(beside)),
		Yardstick: fmt.Sprintf("without them %.2f ms", median(alone)), Ratio: median(ratios), Goal: streamReadGoal,
	})
	return nil
}

// memoryOfStreams returns what a stream takes in a new server that keeps no board in memory, in KiB: once each of them has
// been sent some events.
func (w *world) memoryOfStreams(ctx context.Context) (perStream float64, err error) {
	fresh, err := w.start(ctx, w.redis.URL, w.notResident()...)
	if err != nil {
		return 0, err
	}
	defer fresh.stop()
	few, err := openStreams(fresh.addr, boardPath, 10)
	defer closeAll(few)
	if err != nil {
		return 0, err
	}
	before, err := memoryOf(fresh.pid, "VmRSS:")
	if err != nil {
		return 0, err
	}
	streams, err := openStreams(fresh.addr, boardPath, streamsOpen)
	defer closeAll(streams)
	if err != nil {
		return 0, err
	}
	written := w.write(ctx, benchBoard, w.members, 1)
	if err := errors.Join(wait(ctx, time.Second), written.finish()); err != nil {
		return 0, err
	}
	after, err := memoryOf(fresh.pid, "VmRSS:")
	return (after - before) * 1024 / streamsOpen, err
}

// readsBeside reads at a steady rate while the board changes, and returns the p99 in milliseconds and the commits by seq.
func (w *world) readsBeside(ctx context.Context, reads load) (p99 float64, acks []ack, err error) {
	seen := newSteady(reads.length)
	reads.observe = seen.observe
	written := w.write(ctx, benchBoard, w.members, 1)
	result := reads.run()
	if err := written.finish(); err != nil {
		return 0, nil, err
	}
	slices.SortFunc(written.acks, func(a, b ack) int { return cmp.Compare(a.seq, b.seq) })
	return seen.p99(), written.acks, result.failure()
}

func closeAll(streams []*watched) {
	var all sync.WaitGroup
	for _, s := range streams {
		all.Go(s.close)
	}
	all.Wait()
}
