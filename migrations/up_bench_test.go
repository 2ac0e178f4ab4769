package migrations_test

import (
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// BenchmarkUp makes the database of a test: the schema on an empty one.
func BenchmarkUp(b *testing.B) {
	for name, server := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := migrations.Up(b.Context(), openDB(b, server(b))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
