package app

import (
	"context"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// openedFeatures are the features of a process.
type openedFeatures []features.Opened

// openFeatures opens the features on an engine, and adds their parts to a store and their metrics to m.
func openFeatures(list []features.Feature, s *store.Store, e *features.Engine, m *metrics) openedFeatures {
	opened := features.Open(list, e)
	for i := range opened {
		opened[i].AddTo(s)
		m.registry.MustRegister(opened[i].Metrics...)
	}
	return opened
}

// routes returns the routes of all features.
func (o openedFeatures) routes() (routes []httpapi.Route) {
	for i := range o {
		routes = append(routes, o[i].Routes...)
	}
	return routes
}

// committed passes a commit on to the features.
func (o openedFeatures) committed(ref leaderboard.PeriodRef) {
	for i := range o {
		if o[i].Committed != nil {
			o[i].Committed(ref)
		}
	}
}

// run returns the background work of all features.
func (o openedFeatures) run() (work []func(context.Context)) {
	for i := range o {
		if o[i].Run != nil {
			work = append(work, o[i].Run)
		}
	}
	return work
}

// close calls Close of each feature that has it.
func (o openedFeatures) close() {
	for i := range o {
		if o[i].Close != nil {
			o[i].Close()
		}
	}
}
