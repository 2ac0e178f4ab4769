package derived

import (
	"os"
	"testing"

	"leaderboard/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
