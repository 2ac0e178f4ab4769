package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const (
	fieldConns   = 64
	fieldSeconds = 15
	calmAfter    = 20              // seconds
	calmLimit    = 140             // seconds, more than the two minutes after which Go collects garbage in any case
	calmStep     = 2 * time.Second // between two looks at the memory
	calmShare    = 1.1             // of the memory before, which is back
)

// measureField measures the requirement from the field: a mixed load (six tops, three ranks, one submit in ten),
// answered without an error, and a process that calms down afterwards; with the board in memory, and without.
func (w *world) measureField(ctx context.Context, rep *report, log io.Writer) error {
	defer w.stopService()
	for _, c := range []struct {
		what  string
		args  []string
		limit float64 // MiB
	}{{"resident", nil, 250}, {"not resident", w.notResident(), 120}} {
		if err := w.serve(ctx, c.args...); err != nil {
			return err
		}
		if c.args == nil {
			if err := w.warmUp(ctx, log, benchBoard); err != nil {
				return err
			}
		}
		if err := w.measureMixed(ctx, rep, log, c.what, c.limit); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) measureMixed(ctx context.Context, rep *report, log io.Writer, what string, limit float64) error {
	mixed := w.mixedLoad()
	mixed.length = w.seconds(fieldSeconds / 3) // a server that nobody asked yet has less than it takes
	mixed.run()
	if err := wait(ctx, w.seconds(calmAfter)); err != nil {
		return err
	}
	before, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	mixed.length = w.seconds(fieldSeconds)
	result := mixed.run()
	rep.add(row{
		What: "mixed load, 64 connections: 60 % top 100, 30 % rank of any member, 10 % submit; " + what,
		Here: fmt.Sprintf("%s/s, mean %.1f ms, p99 %.1f ms, %d errors", thousands(result.perSecond()), ms(result.mean()), ms(result.quantile(0.99)), result.failed),
		Goal: "> 1,000/s, mean < 500 ms, p99 < 1 s, no errors",
		Met:  yesNo(result.perSecond() > 1000 && result.mean() < 500*time.Millisecond && result.quantile(0.99) < time.Second && result.failed == 0),
	})
	if result.failed > 0 {
		fmt.Fprintln(log, "first failure:", result.firstFail)
	}
	return w.measureCalm(ctx, rep, what, before, limit)
}

func (w *world) mixedLoad() load {
	top, member := topRequest(pageOf), memberRequest(benchBoard, w.members)
	return load{addr: w.addr, conns: fieldConns, request: func(conn, i int, buf []byte) []byte {
		switch n := rand.IntN(10); {
		case n == 0:
			return appendSubmit(buf, boardPath, w.members, 1)
		case n < 4:
			return member(conn, i, buf)
		default:
			return top(conn, i, buf)
		}
	}}
}

// measureCalm waits for the process to come to rest and reports memory and idle CPU.
func (w *world) measureCalm(ctx context.Context, rep *report, what string, before usage, limit float64) error {
	loaded, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	start := time.Now()
	idle, back, err := w.awaitMemory(ctx, before.rssMB*calmShare)
	if err != nil {
		return err
	}
	waited := time.Since(start)
	window := w.seconds(calmAfter / 4)
	if err := wait(ctx, window); err != nil {
		return err
	}
	later, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{
		What: fmt.Sprintf("server memory (RSS) at %s members, %s", thousands(w.members), what),
		Here: fmt.Sprintf("%.0f MiB before, %.0f MiB right after, %.0f MiB %.0f s after the load", before.rssMB, loaded.rssMB, idle.rssMB, waited.Seconds()),
		Goal: fmt.Sprintf("≤ %.0f MiB, back to where it was", limit),
		Met:  yesNo(back && max(before.rssMB, loaded.rssMB, idle.rssMB) <= limit),
	})
	rep.add(row{
		What: fmt.Sprintf("server CPU %.0f s after the load, %s", waited.Seconds(), what),
		Here: fmt.Sprintf("%.1f %% of one core", 100*(later.cpu-idle.cpu).Seconds()/window.Seconds()), Goal: "back to where it was",
	})
	return nil
}

// awaitMemory waits until the server is at rest and its memory is not above so many MiB.
func (w *world) awaitMemory(ctx context.Context, mb float64) (u usage, back bool, err error) {
	start := time.Now()
	for pause := w.seconds(calmAfter); ; pause = calmStep {
		if err := wait(ctx, pause); err != nil {
			return u, false, err
		}
		if u, err = processUsage(w.pid); err != nil || u.rssMB <= mb {
			return u, err == nil, err
		}
		if time.Since(start) > w.seconds(calmLimit) {
			return u, false, nil
		}
	}
}
