package signin

import (
	"os"
	"testing"

	"leaderboard/internal/leaks"
)

func TestMain(m *testing.M) { os.Exit(leaks.Main(m)) }
