//go:build cgo

// SQLite is C. make test is linked without, and make test-all has this test.

package adapters

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// goose takes these values directly, without a wrapper.
var (
	_ lock.Locker        = locks.OneKey[*sql.DB]{}
	_ lock.SessionLocker = locks.OneKey[*sql.Conn]{}
)

// migration is one that counts how often it runs, and waits until it is let go on.
type migration struct{ *gate }

func (m migration) run(ctx context.Context, db *sql.DB) error {
	if _, err := m.pass(ctx); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS orders (id INTEGER)")
	return err
}

// applied has the migrations of a process.
type applied struct {
	versions int
	err      error
}

// up has a process of its own migrate the database.
func (m migration) up(t *testing.T, file string, opts ...goose.ProviderOption) <-chan applied {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?_busy_timeout=60000") // ms
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	opts = append(opts, goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(1, &goose.GoFunc{RunDB: m.run}, nil)))
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, nil, opts...)
	require.NoError(t, err)
	done := make(chan applied, 1)
	go func() {
		results, err := provider.Up(scene.Deadline(t))
		done <- applied{len(results), err}
	}()
	return done
}

// TestGoose: three processes migrate one database. With the lock one of them does it, and the others find it done;
// without it each does.
func TestGoose(t *testing.T) {
	const processes = 3
	kinds := map[string]func(*locks.Named) goose.ProviderOption{
		"Locker": func(named *locks.Named) goose.ProviderOption {
			return goose.WithLocker(locks.OneKey[*sql.DB]{Locks: named, Key: "orders/db"})
		},
		"SessionLocker": func(named *locks.Named) goose.ProviderOption {
			return goose.WithSessionLocker(locks.OneKey[*sql.Conn]{Locks: named, Key: "orders/db"})
		},
	}
	for name, option := range kinds {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, servers string) {
				m, file := migration{newGate()}, filepath.Join(t.TempDir(), "orders.db")
				var all []<-chan applied
				for range processes {
					all = append(all, m.up(t, file, option(scene.Open(t, servers).Keyed("/migrations").ByName())))
				}
				scene.Receive(t, m.inside)
				awaitQueue(t, servers, "/migrations/orders%2Fdb", processes)
				close(m.opened)
				versions := 0
				for _, done := range all {
					result := scene.Receive(t, done)
					require.NoError(t, result.err)
					versions += result.versions
				}
				require.Equal(t, 1, versions)
				require.EqualValues(t, 1, m.came.Load())
			})
		})
	}
	t.Run("without a lock", func(t *testing.T) {
		m, file := migration{newGate()}, filepath.Join(t.TempDir(), "orders.db")
		var all []<-chan applied
		for i := range processes {
			all = append(all, m.up(t, file))
			if i == 0 { // it has made the table of versions
				scene.Receive(t, m.inside)
			}
		}
		for range processes - 1 {
			scene.Receive(t, m.inside)
		}
		close(m.opened)
		for _, done := range all {
			require.NoError(t, scene.Receive(t, done).err)
		}
		require.EqualValues(t, processes, m.came.Load())
	})
}
