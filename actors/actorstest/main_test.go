package actorstest_test

import (
	"os"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

func TestMain(m *testing.M) { os.Exit(scene.Listening{Tests: m}.Run()) }
