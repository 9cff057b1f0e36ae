// Package adapters holds package locks to the interfaces of libraries that are given a lock: the real ones, at their
// newest. It is a module of its own, so that Turnstile depends on none of them.
//
//   - TestCertMagic: three processes that want the same certificate from one store, locked by locks.Named.
//   - TestGoose: three processes that migrate the same database, locked by locks.OneKey. It needs a C compiler,
//     for SQLite, so make test does not have it.
//   - TestFenceInSQL: the SQL of the guide on fencing, likewise with SQLite.
//
// Each of the first two is shown to go wrong without the lock, so the test shows what the lock is for. gocron's
// adapters have tests of their own, in locks/adapters/gocron, and robfig/cron and asynq in
// examples/scheduler.
package adapters
