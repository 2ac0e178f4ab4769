package httpapi

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fake is everything behind the API: the fake behind the engine's routes, and the further needs of features.
type fake struct {
	*apitest.Fake
	health Health

	exportAll  exporting     // nil: of the model
	exportGate chan struct{} // an export continues after each part when it receives; nil: at once

	profile string                     // of any member, as a feature shows it; "": none
	slow    bool                       // an erasure is not done within a request
	told    []leaderboard.MemberRecord // records of features about any member
}

func newFake() *fake {
	f := apitest.NewFake()
	return &fake{
		Fake: f, health: Health{Ready: true},
	}
}

// MemberData adds records of features to the model's.
func (f *fake) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) (err error) {
	if f.profile != "" {
		err = tell(leaderboard.MemberRecord{List: "profile", Record: jsontext.Value(f.profile)})
	}
	if err == nil {
		err = f.Model.MemberData(ctx, member, tell)
	}
	for _, r := range f.told {
		if err == nil {
			err = tell(r)
		}
	}
	return err
}

// Forget is done at once unless it is to look as if it took longer.
func (f *fake) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	out, err := f.Model.Forget(ctx, member, actor)
	out.Done = out.Done && !f.slow
	return out, err
}

type exporting func(ctx context.Context, ref leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error

// Export gives the entries in parts of partSize, and fails after the first part if it is set to fail.
func (f *fake) Export(
	ctx context.Context, ref leaderboard.PeriodRef, metadata bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error,
) error {
	if err := f.Enter("Export"); err != nil {
		return err
	}
	if f.exportAll != nil {
		return f.exportAll(ctx, ref, begin, func(part []leaderboard.Entry) error { return entries(part, nil) })
	}
	const partSize = 3
	page, err := f.Model.Page(ctx, ref, leaderboard.PageQuery{Limit: leaderboard.MaxLimit, Query: leaderboard.Query{Mode: leaderboard.ModeStrict, Metadata: metadata}})
	if err != nil {
		return err
	}
	if err := begin(page.State); err != nil {
		return err
	}
	for part := range slices.Chunk(page.Entries, partSize) {
		var out []leaderboard.Entry
		var bodies []string
		for _, e := range part {
			if out = append(out, e.Entry); metadata {
				bodies = append(bodies, e.Metadata)
			}
		}
		if err := entries(out, bodies); err != nil {
			return err
		}
		if err := f.Enter("Export part"); err != nil {
			return err
		}
		if f.exportGate != nil {
			select {
			case <-f.exportGate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
