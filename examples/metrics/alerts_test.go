package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestEveryAlertIsTested: each rule has tests of its own in which it fires, with its words, and in which it does not.
func TestEveryAlertIsTested(t *testing.T) {
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert string }
		}
	}
	readYAML(t, "alerts.yml", &alerts)
	var tests struct {
		Tests []struct {
			Rules []struct {
				Alert string           `yaml:"alertname"`
				Fires []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, "alerts_test.yml", &tests)
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, r := range test.Rules {
			if len(r.Fires) == 0 {
				quiet[r.Alert] = true
			}
			for _, alert := range r.Fires {
				fires[r.Alert] = true
				require.Contains(t, alert, "exp_annotations", r.Alert)
			}
		}
	}
	seen := 0
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			seen++
			require.True(t, fires[r.Alert], "there is no test in which %s fires", r.Alert)
			require.True(t, quiet[r.Alert], "there is no test in which %s does not fire", r.Alert)
		}
	}
	require.NotZero(t, seen)
}

// TestRealAlerts has Prometheus carry the tests of the rules out.
func TestRealAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	rig.SkipUnless(t, err)
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(scene.Deadline(t), promtool, args...)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v\n%s", cmd.Args, output)
	}
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, yaml.NewDecoder(bytes.NewReader(text)).Decode(into))
}
