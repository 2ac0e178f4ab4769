package peopletest_test

import (
	"os"
	"testing"

	"leaderboard/features/people/peopletest"
	"leaderboard/internal/leaks"
	"leaderboard/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(leaks.Main(m)) }

// TestModel: the model is as good as a store.
func TestModel(t *testing.T) { peopletest.Run(t, peopletest.NewModel(storetest.NewModel())) }
