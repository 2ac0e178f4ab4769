package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// check is one thing that a server needs to serve. A start and Check have the same list of them, and ask by the same functions:
// Check asks once and says what was found, a start fails, waits or goes on without.
type check struct {
	name     string
	after    string // the check that must have an answer before this one is asked; "": none
	optional bool   // a start goes on without an answer
	mend     string // what mends an ask that fails without a fault that says it
	ask      asking
	start    func(context.Context, asking) error
}

// carryOut does what a start does with checks, in order.
func carryOut(ctx context.Context, checks []check) error {
	for _, c := range checks {
		if err := c.start(ctx, c.ask); err != nil {
			return err
		}
	}
	return nil
}

// FindingState is how good what Check found is.
type FindingState string

const (
	FindingStateOK      FindingState = "ok"
	FindingStateWarning FindingState = "warning" // a start logs it and goes on
	FindingStateFailed  FindingState = "failed"  // a start ends or waits for ever
	FindingStateSkipped FindingState = "skipped" // not asked, because of another one that failed
)

// Finding is what Check found.
type Finding struct {
	Check  string       `json:"check"`
	State  FindingState `json:"state"`
	Found  string       `json:"found"`
	Remedy string       `json:"remedy,omitempty"`
}

// askTimeout bounds one question of askAll.
const askTimeout = 10 * time.Second

// askAll asks once for each check, in order. dsn is that of the database, for what mends it.
func askAll(ctx context.Context, dsn string, checks []check) (findings []Finding, err error) {
	unanswered := map[string]bool{}
	for _, c := range checks {
		if unanswered[c.after] {
			unanswered[c.name] = true
			findings = append(findings, Finding{Check: c.name, State: FindingStateSkipped, Found: "not asked, because the check of " + c.after + " has no answer"})
			continue
		}
		asked, cancel := context.WithTimeout(ctx, askTimeout)
		l, err := c.ask(asked)
		cancel()
		if ctx.Err() != nil {
			return findings, ctx.Err()
		}
		unanswered[c.name] = err != nil
		findings = append(findings, findingsOf(dsn, &c, l, err)...)
	}
	return findings, nil
}

// findingsOf returns what a check found: what is good in one line, or a line for each fault.
func findingsOf(dsn string, c *check, l look, err error) (out []Finding) {
	if fault := faultOf(dsn, err); fault != nil {
		err = fault
	}
	if faulty, ok := errors.AsType[*faultsError](err); ok {
		l.faults, err = faulty.faults, nil
	}
	if err != nil {
		state := FindingStateFailed
		if c.optional {
			state = FindingStateWarning
		}
		return []Finding{{c.name, state, fmt.Sprint(err), c.mend}}
	}
	for _, f := range l.faults {
		state := FindingStateFailed
		if f.Doubtful {
			state = FindingStateWarning
		}
		out = append(out, Finding{c.name, state, f.Wrong, f.Remedy})
	}
	if len(out) == 0 && l.found != "" {
		out = []Finding{{Check: c.name, State: FindingStateOK, Found: l.found}}
	}
	return out
}
