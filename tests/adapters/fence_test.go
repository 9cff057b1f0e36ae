//go:build cgo

package adapters

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestFenceInSQL: the statements of the guide on fencing, as they stand there, let no older token write.
func TestFenceInSQL(t *testing.T) {
	page, err := os.ReadFile("../../locks/guides/fencing.md")
	require.NoError(t, err)
	var statements []string
	for _, block := range strings.Split(string(page), "```sql\n")[1:] {
		statement, _, _ := strings.Cut(block, "```")
		statements = append(statements, strings.ReplaceAll(statement, "$", "?")) // SQLite numbers $1 and $2 as they come
	}
	require.Len(t, statements, 2)
	update, upsert := statements[0], statements[1]

	ctx := scene.Deadline(t)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "orders"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, fence INTEGER)")
	require.NoError(t, err)
	write := func(statement, state string, token int64) int64 {
		result, err := db.ExecContext(ctx, statement, 42, state, token)
		require.NoError(t, err)
		changed, err := result.RowsAffected()
		require.NoError(t, err)
		return changed
	}
	require.Zero(t, write(update, "ordered", 33), "there is no row")
	require.EqualValues(t, 1, write(upsert, "ordered", 33))
	require.EqualValues(t, 1, write(update, "paid", 33), "the same holder")
	require.EqualValues(t, 1, write(upsert, "sent", 34))
	require.Zero(t, write(update, "late", 33))
	require.Zero(t, write(upsert, "late", 33))
	var state string
	require.NoError(t, db.QueryRowContext(ctx, "SELECT state FROM orders WHERE id = 42 AND fence = 34").Scan(&state))
	require.Equal(t, "sent", state)
}
