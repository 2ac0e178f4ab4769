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
	settle       = 20 * time.Second
)

// measureField is the requirement from the field: a mixed load (six tops, three ranks, one submit in ten), answered
// without an error, and a process that calms down afterwards.
func (w *world) measureField(ctx context.Context, rep *report, log io.Writer) error {
	fmt.Fprintln(log, "mixed load")
	before, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	result := load{addr: w.addr, conns: fieldConns, seconds: fieldSeconds, request: func(_, _ int, buf []byte) []byte {
		switch n := rand.IntN(10); {
		case n == 0:
			return w.appendSubmit(buf, 1)
		case n < 4:
			return fmt.Appendf(buf, bareTemplate, fmt.Sprintf("%s/members/m%07d", boardPath, rand.IntN(w.members)))
		default:
			return fmt.Appendf(buf, bareTemplate, boardPath+"/top?limit=100")
		}
	}}.run()
	rep.add(row{
		what:  "mixed load, 64 connections: 60 % top 100, 30 % rank of any member, 10 % submit",
		ours:  fmt.Sprintf("%.0f/s, mean %.1f ms, p99 %.1f ms, %d errors", result.perSecond(), ms(result.mean()), ms(result.quantile(0.99)), result.failed),
		ratio: 0, goal: "> 1,000/s, mean < 500 ms, p99 < 1 s, no errors",
	})
	if result.failed > 0 {
		fmt.Fprintln(log, "first failure:", result.firstFail)
	}
	return w.measureCalm(ctx, rep, before)
}

// measureCalm waits for the process to settle and reports memory and idle CPU.
func (w *world) measureCalm(ctx context.Context, rep *report, before usage) error {
	loaded, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	if err := wait(ctx, settle); err != nil {
		return err
	}
	idle, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	if err := wait(ctx, 5*time.Second); err != nil {
		return err
	}
	later, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{
		what: fmt.Sprintf("server memory (RSS) at %d members", w.members),
		ours: fmt.Sprintf("%.0f MiB before, %.0f MiB right after, %.0f MiB %.0f s after the load", before.rssMB, loaded.rssMB, idle.rssMB, settle.Seconds()), goal: "< 150 MB, back to where it was",
	})
	rep.add(row{what: "server CPU 20 s after the load", ours: fmt.Sprintf("%.1f %% of one core", 100*(later.cpu-idle.cpu).Seconds()/5), goal: "back to where it was"})
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
