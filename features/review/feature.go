package review

import (
	"leaderboard/features"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "review", Part: Part{}, Open: open} }

func open(e *features.Engine) features.Opened {
	s := NewStore(e.DB, e.Writer)
	return features.Opened{
		Routes: Routes(s, e.BoardFinder), Sweep: []store.Job{sweep(e.Sweeper)}, Purge: []string{purge}, Forget: s.forget,
		Data: []store.Data{store.DataOf("held", s.data)}, Offers: []any{s},
	}
}
