package events

import (
	"context"
	"time"

	"leaderboard/features"
	"leaderboard/store"
)

// Settings are about events, by the tags of package settings.
type Settings struct {
	Private bool          `setting:"private-endpoints" old:"allow-private-addresses"`
	Retry   time.Duration // between the first attempt and the second; 0: the default. Only tests have it
}

// Feature returns the feature of the folder. It offers its Store, to read events from.
func Feature() features.Feature {
	settings := &Settings{}
	return features.Feature{Name: "events", Settings: settings, Open: func(e *features.Engine) features.Opened {
		s, private := NewStore(e.DB, e.Server.Point), settings.Private || e.Server.AllowPrivate
		sender := NewSender(Config{Store: s, AllowPrivate: private, Retry: settings.Retry, Logger: e.Log})
		return features.Opened{
			Routes: Routes(s, sender, private),
			Sweep: []store.Job{{Name: "sweep erasures that were told", Run: func(ctx context.Context, _ store.Slice) (bool, error) {
				return false, s.removeDelivered(ctx)
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
