// Package actorstest helps tests of programs that use package actors, as httptest and fstest help
// with their packages.
//
// [Start] starts all that such a program needs. A [Recorder] keeps what one lock actor goes through;
// [Recorder.Await] waits for a state and [AwaitNotice] for a notice, instead of for time:
//
//	kit := actorstest.Start(t)
//	recorder := actorstest.NewRecorder(kit.System)
//	kit.System.Root.Spawn(actors.NewLock(kit.Session, want, actors.WithObserver(recorder.PID())))
//	held, err := actorstest.AwaitNotice[*messages.Held](ctx, recorder)
//
// Code under test that takes an actors.Provider is given
//
//   - the session, [Observed]: the lock actors that it spawns are followed by lock path;
//   - a [Fake]: its lock actors do what the test says, without a server. A [Reporter] is for a fake of
//     your own.
//
// [Match] compares the states of a record with a pattern of [Then], [Maybe] and [Whatever], or
// [InOrder]. locks/guides/testing.md shows whole tests.
//
// Package embedded is the server, with faults on demand and, if need be, virtual time.
package actorstest
