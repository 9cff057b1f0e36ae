package figures_test

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// row is a line of the table of instruments.
type row struct{ name, kind, unit, attributes, meaning string }

// TestTable: the table in the package's documentation has exactly the names that are exported once
// everything has happened, each with its unit, kind, attributes and their values, and description.
func TestTable(t *testing.T) {
	w := newWorld(t)
	w.everything()
	exported := map[string]row{}
	for name, m := range w.collect() {
		keys := map[string]bool{}
		for _, p := range pointsOf(m) {
			for _, a := range p.attributes.ToSlice() {
				keys[string(a.Key)] = true
				require.Contains(t, metering.Values(a.Key), a.Value.AsString(), name)
			}
		}
		exported[name] = row{name, kindOf(t, m), m.Unit, strings.Join(slices.Sorted(maps.Keys(keys)), ", "), m.Description}
	}
	documented := documented(t)
	require.Equal(t, documented, exported)

	listed := map[string]row{}
	for _, i := range metering.Instruments() {
		keys := map[string]bool{}
		for _, k := range i.Attributes {
			keys[string(k)] = true
		}
		listed[i.Name] = row{i.Name, string(i.Kind), i.Unit, strings.Join(slices.Sorted(maps.Keys(keys)), ", "), i.Meaning}
	}
	require.Equal(t, documented, listed)
}

// everything makes everything happen that is counted. Locks that are held in the end are held until the
// test ends.
func (w *world) everything() {
	w.t.Helper()
	ctx := scene.Deadline(w.t)
	client := w.open()
	rec := scene.Recorder(w.t, client)
	mutex := client.Mutex("/all", locks.WithGrace(time.Millisecond), locks.WithObserver(rec.PID()))
	first := w.lock(mutex)
	second := scene.Queue(w.t, client, "/all")
	_, err := client.Mutex("/all").TryLock(ctx)
	require.ErrorIs(w.t, err, locks.ErrNotAcquired)
	w.cut(client)
	_, err = rec.AwaitNth(ctx, messages.StateHeld, 2)
	require.NoError(w.t, err)
	_, err = client.Revoke(ctx, "/all")
	require.NoError(w.t, err)
	lease := second.Granted(w.t)
	require.ErrorIs(w.t, first.Unlock(ctx), locks.ErrRevoked)
	require.NoError(w.t, w.server.Expire(client.Session().ID()))
	<-lease.Context().Done()
	require.ErrorIs(w.t, lease.Unlock(ctx), locks.ErrLost)
	w.lock(client.Mutex("/all"))
}

func kindOf(t *testing.T, m metricdata.Metrics) string {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		if data.IsMonotonic {
			return "counter"
		}
		return "updowncounter"
	case metricdata.Gauge[float64]:
		return "gauge"
	case metricdata.Histogram[float64], metricdata.Histogram[int64]:
		return "histogram"
	}
	t.Fatalf("%s is %T", m.Name, m.Data)
	return ""
}

// documented reads the table.
func documented(t *testing.T) map[string]row {
	file, err := parser.ParseFile(token.NewFileSet(), "../../actors/metering/doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	rows := map[string]row{}
	for line := range strings.Lines(file.Doc.Text()) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.HasPrefix(cells[0], "turnstile.") {
			keys := slices.Sorted(slices.Values(strings.Split(cells[3], ", ")))
			rows[cells[0]] = row{cells[0], cells[1], cells[2], strings.Join(keys, ", "), cells[4]}
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// TestBounds: the histograms tell a grant within a session from one that waited for an hour.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	w.unlock(w.lock(w.open().Mutex("/a")))
	acquire := w.collect()["turnstile.lock.acquire.duration"].Data.(metricdata.Histogram[float64]).DataPoints[0].Bounds
	require.IsIncreasing(t, acquire)
	require.Less(t, acquire[0], 0.001)
	require.Greater(t, acquire[len(acquire)-1], 3600.0)
	size := w.collect()["turnstile.session.batch.size"].Data.(metricdata.Histogram[int64]).DataPoints[0].Bounds
	require.IsIncreasing(t, size)
}
