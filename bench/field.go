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
	calmAfter    = 20 // seconds
)

// measureField measures the requirement from the field: a mixed load (six tops, three ranks, one submit in ten),
// answered without an error, and a process that calms down afterwards.
func (w *world) measureField(ctx context.Context, rep *report, log io.Writer) error {
	before, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	result := load{addr: w.addr, conns: fieldConns, length: w.seconds(fieldSeconds), request: func(_, _ int, buf []byte) []byte {
		switch n := rand.IntN(10); {
		case n == 0:
			return appendSubmit(buf, boardPath, w.members, 1)
		case n < 4:
			return fmt.Appendf(buf, bareTemplate, boardPath+"/members/"+randomMember(w.members))
		default:
			return fmt.Appendf(buf, bareTemplate, boardPath+"/top?limit=100")
		}
	}}.run()
	rep.add(row{
		What: "mixed load, 64 connections: 60 % top 100, 30 % rank of any member, 10 % submit",
		Here: fmt.Sprintf("%s/s, mean %.1f ms, p99 %.1f ms, %d errors", thousands(result.perSecond()), ms(result.mean()), ms(result.quantile(0.99)), result.failed),
		Goal: "> 1,000/s, mean < 500 ms, p99 < 1 s, no errors",
		Met:  yesNo(result.perSecond() > 1000 && result.mean() < 500*time.Millisecond && result.quantile(0.99) < time.Second && result.failed == 0),
	})
	if result.failed > 0 {
		fmt.Fprintln(log, "first failure:", result.firstFail)
	}
	return w.measureCalm(ctx, rep, before)
}

// measureCalm waits for the process to come to rest and reports memory and idle CPU.
func (w *world) measureCalm(ctx context.Context, rep *report, before usage) error {
	loaded, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	pause := w.seconds(calmAfter)
	if err := wait(ctx, pause); err != nil {
		return err
	}
	idle, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	window := w.seconds(calmAfter / 4)
	if err := wait(ctx, window); err != nil {
		return err
	}
	later, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{
		What: fmt.Sprintf("server memory (RSS) at %s members", thousands(w.members)),
		Here: fmt.Sprintf("%.0f MiB before, %.0f MiB right after, %.0f MiB %.0f s after the load", before.rssMB, loaded.rssMB, idle.rssMB, pause.Seconds()),
		Goal: "< 150 MB, back to where it was",
		Met:  yesNo(max(before.rssMB, loaded.rssMB, idle.rssMB)*1.048576 < 150),
	})
	rep.add(row{
		What: fmt.Sprintf("server CPU %.0f s after the load", pause.Seconds()),
		Here: fmt.Sprintf("%.1f %% of one core", 100*(later.cpu-idle.cpu).Seconds()/window.Seconds()), Goal: "back to where it was",
	})
	return nil
}
