// Package actorstest helps tests of programs that use package actors, as httptest and fstest help
// with their packages.
//
// A [Recorder] is an observer (actors.WithObserver) that keeps what one lock actor goes through.
// [Recorder.Await] waits for a state instead of for time:
//
//	recorder := actorstest.NewRecorder(system)
//	defer recorder.Close()
//	system.Root.Spawn(actors.NewLock(session, want, actors.WithObserver(recorder.PID())))
//	held, err := recorder.Await(ctx, messages.StateHeld)
//
// [Match] compares the states with a pattern of [Then], [Maybe] and [Whatever], or [InOrder].
// A [Reporter] reports for a fake actors.Provider, whose lock actors do what a test has them do.
//
// Package embedded brings the server, with faults on demand and, if need be, virtual time.
package actorstest
