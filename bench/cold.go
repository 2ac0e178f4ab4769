package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	coldRounds  = 5
	coldSeconds = 10
	coldSlot    = 100 * time.Millisecond // in which answers are counted
	coldMean    = 5                      // slots of which the mean is looked at
	coldSpeed   = 0.9                    // of the rate at the end: at speed
	coldGoal    = 3500 * time.Millisecond
)

// measureCold measures how soon a server that has just started answers as fast as later, while many connections ask from its first moment on.
func (w *world) measureCold(ctx context.Context, rep *report) error {
	var rounds []cold
	for range coldRounds {
		if err := w.serve(ctx); err != nil {
			return err
		}
		c, err := w.coldRound(ctx)
		if err != nil {
			return err
		}
		rounds = append(rounds, c)
		fmt.Fprintf(w.log, "at speed after %.2g s, %s/s until then, %s/s at the end, %s statements\n", c.after.Seconds(), thousands(c.until), thousands(c.end), thousands(c.statements))
	}
	slices.SortFunc(rounds, func(a, b cold) int { return int(a.after - b.after) })
	m := rounds[len(rounds)/2]
	rep.add(row{
		what:      fmt.Sprintf("until random ranks are answered at %.0f %% of the rate at the end, %d connections from the start on", 100*coldSpeed, readConns),
		here:      fmt.Sprintf("%.2g s, at most %.2g s; %s/s until then, of %s answers %s refused", m.after.Seconds(), rounds[len(rounds)-1].after.Seconds(), thousands(m.until), thousands(m.all.answers), thousands(m.all.refused)),
		yardstick: fmt.Sprintf("at the end %s/s; MySQL got %s statements until then", thousands(m.end), thousands(m.statements)),
		goal:      fmt.Sprintf("≤ %.2g s", coldGoal.Seconds()), met: yesNo(m.after <= coldGoal),
	})
	return nil
}

// cold is what a server that has just started answers.
type cold struct {
	after      time.Duration // until it is at speed
	until, end float64       // answers a second: until then, and in the last third
	statements int64         // that MySQL got until then
	all        *loadResult
}

func (w *world) coldRound(ctx context.Context) (c cold, err error) {
	var mu sync.Mutex
	slots := make([]int, coldSeconds*time.Second/coldSlot+1)
	statements := make([]int64, len(slots))
	start := time.Now()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for i := range statements {
			if statements[i], err = w.statements(ctx); err != nil || wait(asking, time.Until(start.Add(time.Duration(i+1)*coldSlot))) != nil {
				return
			}
		}
	})
	c.all = load{
		addrs: []string{w.addr}, conns: readConns, length: coldSeconds * time.Second, request: memberRequest(w.members),
		observe: func(_, end time.Time, of said) {
			if i := int(end.Sub(start) / coldSlot); of.status < 400 && i < len(slots) {
				mu.Lock()
				defer mu.Unlock()
				slots[i]++
			}
		},
	}.run()
	stop()
	sampling.Wait()
	if err == nil {
		err = c.all.broken()
	}
	whole := len(slots) - 1
	c.end = rateIn(slots[whole*2/3 : whole])
	at := 0
	for at+coldMean < whole && rateIn(slots[at:at+coldMean]) < coldSpeed*c.end {
		at++
	}
	c.after, c.until, c.statements = time.Duration(at)*coldSlot, rateIn(slots[:at]), statements[at]-statements[0]
	return c, err
}

// rateIn returns the answers a second in slots.
func rateIn(slots []int) float64 {
	sum := 0
	for _, n := range slots {
		sum += n
	}
	return float64(sum) / max(1, float64(len(slots))) / coldSlot.Seconds()
}

// statements returns how many statements MySQL has got.
func (w *world) statements(ctx context.Context) (n int64, err error) {
	var name string
	err = w.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
	return n, err
}
