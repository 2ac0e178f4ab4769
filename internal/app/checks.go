package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// check is one thing that a server needs to serve. A start and Check have the same list of checks and ask by the same functions:
// Check asks once and reports the result; a start fails, waits or continues.
type check struct {
	name     string
	after    string // the check that must have an answer before this one is asked; "": none
	optional bool   // a start continues without an answer
	mend     string // the remedy for an error of ask that names no remedy
	run      lookFunc
	start    func(context.Context, lookFunc) error
}

// carryOut starts checks in order, up to the first error.
func carryOut(ctx context.Context, checks []check) error {
	for _, c := range checks {
		if err := c.start(ctx, c.run); err != nil {
			return err
		}
	}
	return nil
}

// FindingState is the severity of a Finding.
type FindingState string

const (
	FindingStateOK      FindingState = "ok"
	FindingStateWarning FindingState = "warning" // a start logs it and continues
	FindingStateFailed  FindingState = "failed"  // a start ends or waits for ever
	FindingStateSkipped FindingState = "skipped" // not asked, because the check that it waits for has no answer
)

// Finding is a result of Check.
type Finding struct {
	Check  string       `json:"check"`
	State  FindingState `json:"state"`
	Found  string       `json:"found"`
	Remedy string       `json:"remedy,omitempty"`
}

// checkTimeout bounds one question of runChecks.
const checkTimeout = 10 * time.Second

// runChecks asks once for each check, in order. The remedies of its findings name the place of the database with the given DSN.
func runChecks(ctx context.Context, dsn string, checks []check) (findings []Finding, err error) {
	unanswered := map[string]bool{}
	for _, c := range checks {
		if unanswered[c.after] {
			unanswered[c.name] = true
			findings = append(findings, Finding{Check: c.name, State: FindingStateSkipped, Found: "not asked, because the check of " + c.after + " has no answer"})
			continue
		}
		asked, cancel := context.WithTimeout(ctx, checkTimeout)
		l, err := c.run(asked)
		cancel()
		if ctx.Err() != nil {
			return findings, ctx.Err()
		}
		unanswered[c.name] = err != nil
		findings = append(findings, findingsOf(dsn, &c, l, err)...)
	}
	return findings, nil
}

// findingsOf returns the findings of a check: a line for each fault, or one line if all is well.
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
