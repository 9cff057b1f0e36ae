// # SIGTERM and Kubernetes
//
// A process that ends in order gives its locks back at once. A process that is killed keeps them
// until its session expires, which is up to a session timeout. This guide is about being the first
// kind.
//
// # SIGTERM
//
// Kubernetes sends SIGTERM, waits for terminationGracePeriodSeconds (30 s unless set), and sends
// SIGKILL. Let SIGTERM end the context of your work, wait for the work, and close the client:
//
//	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
//	defer stop()
//	err := election.Run(ctx, pod, reconcile)     // returns when reconcile has returned, and the lead is resigned
//	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
//	defer cancel()
//	err = errors.Join(err, client.Close(closing)) // ends the session: what is still held is free
//
// The grace period must be longer than your work takes to end, plus these 5 s. Do and Run wait for
// your function to return before they give the lock back, so a function that ignores its ctx uses
// up the grace period. Close returns ErrSessionRemains where no server answers: others then wait
// for a session timeout, and nothing is lost but time.
//
// # Probes
//
//   - Readiness: client.Ready. It fails when no lease can be renewed, and stays ready through a
//     short reconnect.
//   - Liveness: election.Health. It fails when a leader's function still runs past its lease. Do
//     not use Ready for liveness: a restart does not mend an ensemble that is down.
//
// # A container that is restarted
//
// A container that runs out of memory is killed without SIGTERM. With WithSessionFile its successor
// in the same pod closes the dead process's session first, so that its locks are free in
// milliseconds:
//
//	volumes: [{name: session, emptyDir: {}}]
//	volumeMounts: [{name: session, mountPath: /session}]
//	locks.WithSessionFile("/session/worker.session")
//
// An emptyDir lives as long as the pod, also over restarts of its containers, and stays on its
// node. The file needs that: it is trusted only under the kernel that its writer ran under, and
// ignored under any other. So a StatefulSet's network volume does no harm when the pod moves, and no
// good. One process uses one file; a second gets an error from Open. Package zkconn/sessionfile has
// the rules.
//
// # A pod that is evicted, a node that is gone
//
// The session expires after its timeout, and others have their turn. Kubernetes may start the
// successor while the old pod still runs behind a cut network. The lease is for this case: the old
// pod's ends before others can hold. It cannot call back writes that the old pod has sent already; see
// "Fencing".
//
// # What to set
//
//   - WithLabel(os.Getenv("HOSTNAME")): the pod's name is then in zklock queue and in the
//     dashboard.
//   - The session timeout above the pauses that you see: a CPU limit that throttles a container
//     looks like a paused process. See "Choosing a session timeout".
//   - One client for each process, not one for each request.
package guides
