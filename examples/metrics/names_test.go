package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.yaml.in/yaml/v3"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// exported gives the names that Prometheus sees, as the exporter makes them of the instruments, and the labels of each.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithoutTargetInfo())
	require.NoError(t, err)
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)).Meter("names")
	for _, i := range metering.Instruments() {
		tell(t, meter, i)
	}
	families, err := registry.Gather()
	require.NoError(t, err)
	names := map[string]map[string]bool{}
	for _, f := range families {
		require.Len(t, f.Metric, 1)
		labels := map[string]bool{"job": true, "instance": true}
		for _, l := range f.Metric[0].Label {
			labels[l.GetName()] = true
		}
		if f.Metric[0].Histogram == nil {
			names[f.GetName()] = labels
			continue
		}
		names[f.GetName()+"_sum"], names[f.GetName()+"_count"] = labels, labels
		names[f.GetName()+"_bucket"] = map[string]bool{"le": true}
		for l := range labels {
			names[f.GetName()+"_bucket"][l] = true
		}
	}
	return names
}

// tell makes an instrument and tells it something, with all its attributes.
func tell(t *testing.T, meter metric.Meter, i metering.Instrument) {
	ctx, unit := context.Background(), metric.WithUnit(i.Unit)
	var all []attribute.KeyValue
	for _, k := range i.Attributes {
		all = append(all, k.String("x"))
	}
	with := metric.WithAttributes(all...)
	switch i.Kind {
	case metering.Counter:
		c, err := meter.Int64Counter(i.Name, unit)
		require.NoError(t, err)
		c.Add(ctx, 1, with)
	case metering.UpDownCounter:
		c, err := meter.Int64UpDownCounter(i.Name, unit)
		require.NoError(t, err)
		c.Add(ctx, 1, with)
	case metering.Histogram:
		h, err := meter.Float64Histogram(i.Name, unit)
		require.NoError(t, err)
		h.Record(ctx, 1, with)
	case metering.Gauge:
		_, err := meter.Float64ObservableGauge(i.Name, unit, metric.WithFloat64Callback(
			func(_ context.Context, o metric.Float64Observer) error { o.Observe(1, with); return nil }))
		require.NoError(t, err)
	default:
		t.Fatalf("%s is a %s", i.Name, i.Kind)
	}
}

// TestDashboardNames: the dashboard reads nothing that is not exported, and leaves out nothing that is.
func TestDashboardNames(t *testing.T) {
	text, err := os.ReadFile("grafana-dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Title, UID string
		Panels     []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct {
				Name       string
				Query      any // text, or an object with one
				Definition string
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	require.NotEmpty(t, dashboard.Title)
	names := exported(t)
	used, ids := map[string]bool{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		require.False(t, ids[p.ID], "two panels have the number %d", p.ID)
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		require.True(t, p.Type == "row" || len(p.Targets) > 0, "%s shows nothing", p.Title)
		for _, target := range p.Targets {
			check(t, names, target.Expr, used)
			check(t, names, target.LegendFormat, used)
			shows(t, target.Expr, target.LegendFormat)
		}
	}
	for _, v := range dashboard.Templating.List {
		check(t, names, v.Definition, used)
		if q, is := v.Query.(map[string]any); is { // people see the definition; this is the query
			require.Equal(t, v.Definition, q["query"], v.Name)
		}
	}
	for _, i := range metering.Instruments() {
		stem := strings.ReplaceAll(i.Name, ".", "_")
		shown := false
		for name := range used {
			shown = shown || strings.HasPrefix(name, stem)
		}
		require.True(t, shown, "%s is not shown", i.Name)
	}
}

// TestAlertNames: so do the rules.
func TestAlertNames(t *testing.T) {
	text, err := os.ReadFile("alerts.yml")
	require.NoError(t, err)
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert       string
				Expr        string
				For         string
				Labels      struct{ Severity string }
				Annotations struct{ Summary, Description string }
			}
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&rules))
	require.Len(t, rules.Groups, 1)
	names, alerts := exported(t), map[string]bool{}
	for _, r := range rules.Groups[0].Rules {
		require.False(t, alerts[r.Alert], r.Alert)
		alerts[r.Alert] = true
		require.Regexp(t, "^Turnstile[A-Z]", r.Alert)
		require.Contains(t, []string{"info", "warning", "critical"}, r.Labels.Severity, r.Alert)
		require.NotEmpty(t, r.Annotations.Description, r.Alert)
		used := map[string]bool{}
		check(t, names, r.Expr, used)
		require.NotEmpty(t, used, r.Alert)
		for _, text := range []string{r.Annotations.Summary, r.Annotations.Description} {
			check(t, names, text, used)
			shows(t, r.Expr, text)
		}
	}
	require.NotEmpty(t, alerts)
}

var (
	word      = regexp.MustCompile(`\b(?:turnstile|error)_\w+`)
	selection = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	grouping  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	shown     = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)
)

// check finds the names in an expression: each must be one that is exported, or a label of one; what selects series of a
// name must be a label of it, with a value that it can have; and what series are grouped by must be labels of all.
func check(t *testing.T, names map[string]map[string]bool, expression string, used map[string]bool) {
	t.Helper()
	labels := map[string]bool{}
	for _, of := range names {
		for l := range of {
			labels[l] = true
		}
	}
	var here []string
	for _, w := range word.FindAllString(expression, -1) {
		if names[w] != nil {
			used[w] = true
			here = append(here, w)
		} else {
			require.True(t, labels[w], "%s is not exported: %s", w, expression)
		}
	}
	for _, s := range selection.FindAllStringSubmatch(expression, -1) {
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			require.True(t, names[s[1]][m[1]], "%s has no label %s: %s", s[1], m[1], expression)
			// A label that is not there is the same as an empty one; $x is a variable of the dashboard.
			if values := valuesOf(m[1]); values != nil && m[3] != "" && !strings.HasPrefix(m[3], "$") {
				require.Contains(t, values, m[3], "%s: %s", m[1], expression)
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			for _, name := range here {
				require.True(t, names[name][strings.TrimSpace(label)], "%s has no label %s: %s", name, label, expression)
			}
		}
	}
}

// valuesOf gives the values that a label of ours can have.
func valuesOf(label string) []string {
	for _, i := range metering.Instruments() {
		for _, key := range i.Attributes {
			if strings.ReplaceAll(string(key), ".", "_") == label {
				return metering.Values(key)
			}
		}
	}
	return nil
}

// shows: a text shows no label that the series of its expression do not have any more.
func shows(t *testing.T, expression, text string) {
	t.Helper()
	left := map[string]bool{}
	for _, g := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			left[strings.TrimSpace(label)] = true
		}
	}
	for _, l := range shown.FindAllStringSubmatch(text, -1) {
		require.True(t, left[l[1]], "%q shows %s, which is not left by %s", text, l[1], expression)
	}
}
