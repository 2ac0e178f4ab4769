// Command leaderboard is the service and its command line. `leaderboard --help` lists the commands, docs/settings.md
// every flag and environment variable.
package main

import (
	"os"
	_ "time/tzdata" // for machines without time zone files

	"leaderboard/internal/cli"
)

func main() { os.Exit(cli.Main()) }
