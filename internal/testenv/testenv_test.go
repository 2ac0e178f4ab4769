package testenv

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
)

func TestDatabasesAreFreshAndApart(t *testing.T) {
	for name, fresh := range map[string]func(testing.TB) string{"mysql": MySQL, "mariadb": MariaDB} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				db, err := sql.Open("mysql", fresh(t))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := db.Exec("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB"); err != nil {
					t.Fatal(err)
				}
				var v string
				if err := db.QueryRow("SELECT VERSION()").Scan(&v); err != nil {
					t.Fatal(err)
				}
				t.Log(v)
			}
		})
	}
}

func TestRedisDatabasesAreApart(t *testing.T) {
	ctx := context.Background()
	seen := map[string]bool{}
	for range 3 {
		url := Redis(t)
		if seen[url] {
			t.Fatalf("%s was given twice", url)
		}
		seen[url] = true
		opts, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		c := redis.NewClient(opts)
		defer c.Close()
		if n, err := c.DBSize(ctx).Result(); err != nil || n != 0 {
			t.Fatalf("size of %s: %d, %v; want empty", url, n, err)
		}
		if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrivateServers(t *testing.T) {
	my := PrivateMySQL(t)
	db, err := sql.Open("mysql", my.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	if err := my.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := my.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	r := PrivateRedis(t)
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
}
