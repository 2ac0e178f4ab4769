package events

import (
	"context"
	"time"

	"leaderboard/features"
	"leaderboard/store"
)

// Options are what the feature takes of the settings of a server.
type Options struct {
	// AllowPrivate lets endpoints have addresses that are not public, if they ask for it.
	AllowPrivate bool
	Retry        time.Duration     // between the first attempt and the second; 0: the default
	Point        func(name string) // is called at named points of the way of events, for tests; nil: nothing is
}

// Feature returns what the folder registers. It offers its Store, to read events from.
func Feature(o Options) features.Feature {
	return features.Feature{Name: "events", Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB, o.Point)
		sender := NewSender(Config{Store: s, AllowPrivate: o.AllowPrivate, Retry: o.Retry, Logger: e.Log})
		return features.Opened{
			Routes: Routes(s, sender, o.AllowPrivate),
			Sweep: []store.Job{{Name: "sweep erasures that were told", Run: func(ctx context.Context, _ store.Slice) (bool, error) {
				return false, s.removeTold(ctx)
			}}},
			Run: func(ctx context.Context) {
				sender.noticer = features.Offered[Noticer](e) // of a feature that was opened later too
				sender.Run(ctx)
			},
			Metrics: sender.metrics(),
			Offers:  []any{s},
		}
	}}
}
