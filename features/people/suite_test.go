package people_test

import (
	"testing"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/people"
	"leaderboard/features/people/peopletest"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// stored is a store with profiles.
type stored struct {
	storetest.Database
	*people.Store
}

// TestConformance: profiles and searches on a store pass the cases that the model passes.
func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, e := featuretest.Store(t, dsn, []features.Feature{people.Feature()}, dbtest.Patient)
		peopletest.Run(t, stored{storetest.Of(s, storetest.Added{}), features.Offered[*people.Store](e)})
	})
}
