package dashboard

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain stops the browser, and then finds out whether anything is still running.
func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
