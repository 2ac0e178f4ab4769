package store_test

import (
	"flag"
	"os"
	"testing"

	"leaderboard/internal/testenv"
)

func TestMain(m *testing.M) {
	// Every property is tested on both engines; -rapid.checks has the last word.
	if err := flag.Set("rapid.checks", testenv.Size("40", "1000")); err != nil {
		panic(err)
	}
	os.Exit(testenv.Main(m))
}
