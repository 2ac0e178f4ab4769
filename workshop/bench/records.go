package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	rankList     = 500 // members of a list
	rankConns    = 16
	rankGoal     = 2_000_000
	mostStreams  = 20_000
	otherFiles   = 500 // that a process may have in addition to its streams
	streamRounds = 20
	streamMemory = 36 // KiB
	streamLimit  = 2 * time.Second
)

// measureRecords measures the most exact ranks a second, and the most streams.
func (w *world) measureRecords(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx); err != nil {
		return err
	}
	if err := w.rankLists(rep); err != nil {
		return fmt.Errorf("ranks in lists: %w", err)
	}
	if err := w.manyStreams(ctx, rep); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	return nil
}

// rankLists reads the ranks of random members, a number of them at a time.
func (w *world) rankLists(rep *report) error {
	var lists side
	for range readPairs {
		if err := lists.round(w.addr, w.pid, load{conns: rankConns, length: w.seconds(readSeconds), request: listRequest(w.members)}); err != nil {
			return err
		}
	}
	if err := lists.all.failure(); err != nil {
		return err
	}
	ranks := median(lists.rates) * rankList
	rep.add(row{
		what: fmt.Sprintf("exact ranks in lists of %d random members, %d connections", rankList, rankConns),
		here: fmt.Sprintf("%s ranks/s, %.2f µs each; %s%s", thousands(ranks), median(lists.cpus)/1000/rankList, &lists, lists.all.fromMemory()),
		goal: "≥ " + thousands(int64(rankGoal)) + " ranks/s", met: yesNo(ranks >= rankGoal),
	})
	return nil
}

// listRequest asks for the ranks of random members.
func listRequest(members int) requester {
	return func(_, _ int, buf []byte) []byte {
		body := []byte(`{"members":[`)
		// No member twice: each is from a different part.
		for i, part := 0, members/rankList; i < rankList; i++ {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(appendMember(append(body, '"'), i*part+rand.IntN(part)), '"')
		}
		return appendPost(buf, boardPath+"/ranks", append(body, "]}"...))
	}
}

// manyStreams opens as many streams of the top as the limit of open files allows, and measures what each takes and how late a
// change is at all of them.
func (w *world) manyStreams(ctx context.Context, rep *report) error {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	n := min(mostStreams, int(files.Cur)-otherFiles)
	// One address may hold an eighth of the streams.
	if err := w.serve(ctx, append(withoutMemory(), "--max-streams", strconv.Itoa(8*mostStreams), "--max-connections", strconv.Itoa(2*mostStreams))...); err != nil {
		return err
	}
	seen := &changesSeen{all: make(chan struct{}, 1)}
	few, err := w.openStreams(seen, 10) // so that what the first one needs is not counted
	defer closeAll(few)
	if err != nil {
		return err
	}
	before, err := memoryNow(w.pid)
	if err != nil {
		return err
	}
	streams, err := w.openStreams(seen, n)
	defer closeAll(streams)
	if err != nil {
		return err
	}
	conn, err := dial(w.addr, time.Hour)
	if err != nil {
		return err
	}
	defer conn.close()
	var each []time.Duration
	for i := range max(3, int(streamRounds*w.pace)) {
		seen.begin(n + len(few))
		change := fmt.Appendf(nil, `{"entries":[{"member":%q,"score":%d}]}`, appendMember(nil, 0), time.Now().Unix()+int64(i))
		if _, err := conn.send(appendPost(nil, boardPath+"/scores", change)); err != nil {
			return err
		}
		select {
		case <-seen.all:
		case <-time.After(answerLimit):
			return errors.New("a change did not come to all")
		}
		each = append(each, seen.end()...)
	}
	after, err := memoryNow(w.pid)
	if err != nil {
		return err
	}
	slices.Sort(each)
	kib := float64(after-before) / 1024 / float64(n)
	what := thousands(int64(n)) + " streams of the top 10 on one server"
	rep.add(row{what: what, here: fmt.Sprintf("%.1f KiB of memory each (RSS)", kib), goal: fmt.Sprintf("≤ %d KiB", streamMemory), met: yesNo(kib <= streamMemory)})
	p99 := quantile(each, 0.99)
	rep.add(row{
		what: what + ", from sending a change to its event", goal: "p99 ≤ 2 s", met: yesNo(p99 <= streamLimit),
		here: fmt.Sprintf("p50 %s, p99 %s, at most %s; %d changes", inMS(quantile(each, 0.5)), inMS(p99), inMS(each[len(each)-1]), len(each)/(n+len(few))),
	})
	return nil
}

// changesSeen notes when the streams are sent a change, one change after the other.
type changesSeen struct {
	all   chan struct{} // receives once for each change: all streams have it
	mu    sync.Mutex
	start time.Time
	after []time.Duration // of each stream that has it; the capacity is the number of streams
}

// begin is called before a change is sent, with the number of streams.
func (c *changesSeen) begin(streams int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start, c.after = time.Now(), make([]time.Duration, 0, streams)
}

// one is called for each event except the first of a stream.
func (c *changesSeen) one() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after = append(c.after, time.Since(c.start)); len(c.after) == cap(c.after) {
		c.all <- struct{}{}
	}
}

// end returns after which time each stream had the change.
func (c *changesSeen) end() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.after
}

// openStreams opens a number of streams, and waits for the first event of each.
func (w *world) openStreams(seen *changesSeen, n int) (streams []net.Conn, err error) {
	first := make(chan error, 2*n) // of each its first event, and its end
	for range n {
		conn, err := net.Dial("tcp", w.addr)
		if err != nil {
			return streams, err
		}
		streams = append(streams, conn)
		if _, err := io.WriteString(conn, getBegin+boardPath+"/stream?limit=10"+getEnd); err != nil {
			return streams, err
		}
		go func() { first <- follow(conn, seen, first) }()
		if err := <-first; err != nil {
			return streams, err
		}
	}
	return streams, nil
}

// follow reads a stream until it is closed, and sends nil to first when the first event is there.
func follow(conn net.Conn, seen *changesSeen, first chan<- error) error {
	r := bufio.NewReaderSize(conn, 2<<10)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &statusError{resp.StatusCode, resp.Status}
	}
	lines := bufio.NewScanner(resp.Body)
	for events := 0; lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "id: ") {
			continue
		}
		if events++; events == 1 {
			first <- nil
		} else {
			seen.one()
		}
	}
	return nil
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		_ = conn.Close()
	}
}
