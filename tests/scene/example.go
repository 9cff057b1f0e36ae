package scene

import "fmt"

// Example stands in for the *testing.T that an Example lacks, for actorstest.Start and the like.
type Example struct{ cleanups []func() }

// Helper does nothing.
func (*Example) Helper() {}

// Fatalf panics.
func (*Example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Cleanup has End call a function.
func (e *Example) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

// End calls the functions, the last one first, and all also where one panics.
func (e *Example) End() {
	for _, f := range e.cleanups {
		defer f()
	}
}
