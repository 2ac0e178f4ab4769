package players

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/cache"
	"leaderboard/features"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Settings are about players, by the tags of package settings.
type Settings struct {
	Private bool `setting:"private-issuers" old:"allow-private-addresses"`
}

// Feature returns the feature of the folder. It offers the players, which are httpapi.Players, know plays, and seal texts.
func Feature() features.Feature {
	settings := &Settings{}
	return features.Feature{Name: "players", Settings: settings, Open: func(e *features.Engine) features.Opened {
		s, m := NewStore(e.DB), newMetrics()
		p := New(s, e.Tables, Options{TableOptions: cache.TableOptions{Log: e.Log}, Private: settings.Private || e.Server.AllowPrivate, KeyGood: keyGood(e), Clock: e.Clock, Observer: m})
		if e.Tables != nil {
			s.renew = p.Renew
		}
		return features.Opened{
			Routes: routes(issuerHandlers{s, p}, tokenHandlers{s, s, p}), Sweep: []store.Job{sweepBars(e.Sweeper)}, Forget: s.forget,
			Data: []store.Data{store.DataOf("bars", s.data)}, Metrics: []prometheus.Collector{m.collector}, Offers: []any{p}, Run: p.table.Run,
		}
	}}
}

// keyRing knows the API keys of the database.
type keyRing interface {
	// Valid returns why a key is not good, such as ErrKeyRevoked.
	Valid(ctx context.Context, id string, now time.Time) error
}

// keyGood returns a function that says why an API key is no longer good. Keys of the settings always are.
func keyGood(e *features.Engine) func(context.Context, string, time.Time) error {
	return func(ctx context.Context, id string, now time.Time) error {
		if leaderboard.IsSettingsKeyID(id) {
			return nil
		}
		if ring := features.Offered[keyRing](e); ring != nil {
			return ring.Valid(ctx, id, now)
		}
		return leaderboard.ErrKeyNotFound
	}
}
