package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load is one closed-loop load: conns connections to addr, each sending the next request as soon as the answer to the
// last one is there. It writes bytes to a socket and looks at little of what comes back, because it shares the machine
// with what it measures: through the public client, which asks for all that is no load, the same 32 connections on 2
// cores came to 38 % of the reads (top 10) and 88 % of the single submits.
type load struct {
	addr    string
	conns   int
	length  time.Duration
	request func(conn, i int, buf []byte) []byte // appends the i-th request of a connection
}

// loadResult counts what came back.
type loadResult struct {
	answers   int64
	failed    int64 // status 400 and above, and broken connections
	firstFail string
	took      time.Duration
	latencies []time.Duration // sorted
}

func (r loadResult) perSecond() float64 { return float64(r.answers) / r.took.Seconds() }

func (r loadResult) quantile(q float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	return r.latencies[min(len(r.latencies)-1, int(q*float64(len(r.latencies))))]
}

func (r loadResult) mean() time.Duration {
	var sum time.Duration
	for _, l := range r.latencies {
		sum += l
	}
	return sum / time.Duration(max(1, len(r.latencies)))
}

func (l load) run() loadResult {
	var (
		wg     sync.WaitGroup
		stop   atomic.Bool
		mu     sync.Mutex
		result loadResult
	)
	start := time.Now()
	timer := time.AfterFunc(l.length, func() { stop.Store(true) })
	defer timer.Stop()
	for c := range l.conns {
		wg.Go(func() {
			latencies, failed, err := l.connection(c, &stop)
			mu.Lock()
			defer mu.Unlock()
			result.answers += int64(len(latencies))
			result.latencies = append(result.latencies, latencies...)
			result.failed += failed
			if err != nil {
				result.failed++
				if result.firstFail == "" {
					result.firstFail = err.Error()
				}
			}
		})
	}
	wg.Wait()
	result.took = time.Since(start)
	slices.Sort(result.latencies)
	return result
}

func (l load) connection(c int, stop *atomic.Bool) (latencies []time.Duration, failed int64, err error) {
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	var buf []byte
	var failure error
	for i := 0; !stop.Load(); i++ {
		buf = l.request(c, i, buf[:0])
		begin := time.Now()
		if _, err := conn.Write(buf); err != nil {
			return latencies, failed, err
		}
		status, err := readAnswer(r, io.Discard)
		if err != nil {
			return latencies, failed, err
		}
		latencies = append(latencies, time.Since(begin))
		if status >= 400 {
			failed++
			failure = fmt.Errorf("status %d", status)
		}
	}
	if failure != nil {
		failed-- // it is counted once more by the caller
	}
	return latencies, failed, failure
}

// bareTemplate is a GET of a path as a load sends it.
const bareTemplate = "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n"

const contentLength = "Content-Length: "

var errAnswer = errors.New("cannot read the answer")

// readAnswer reads one HTTP/1.1 answer that has a Content-Length.
func readAnswer(r *bufio.Reader, body io.Writer) (status int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, errAnswer
	}
	length := int64(0)
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if bytes.HasPrefix(line, []byte(contentLength)) {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(line[len(contentLength):])), 10, 64); err != nil {
				return 0, errAnswer
			}
		}
	}
	if status == 304 || status == 204 {
		return status, nil
	}
	_, err = io.CopyN(body, r, length)
	return status, err
}
