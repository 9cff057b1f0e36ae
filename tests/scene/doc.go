// Package scene has what suites share to set a scene: somebody holds a lock, somebody waits for it, something happens to
// them. Servers are those of rig, or embedded ones.
//
//   - Waits are for events that must come, however slow the machine is ([Eventually], [Receive], [Deadline]). They find out
//     that an event does not come, and never that it was late.
//   - Places: [EachServer] runs a test on every kind of server there is, [OnEmbedded] on the embedded one, [Each] and [Tell]
//     on kinds of a package's own; a server serves all tests of its package, each in a chroot, and [Main] ends it.
//     [Virtual] is for bubbles of virtual time (testing/synctest), with a [Network] that can be cut, or an [Estate] whose
//     server is replaced. [Late] and [Controlled] are servers that a test has to itself.
//   - The cast: clients ([Open], and in a bubble [Client]), a [Waiter], a lock actor ([Stage]), another process ([Process]),
//     and a stranger who looks at the nodes, or queues with go-zookeeper's own lock ([Outside]).
//   - Its judges: a [Log], the [Changes] that a listener was told, and [CountRelists]. A waiter that hears nothing lists the queue again after a session
//     timeout. That repairs what a lost wake-up breaks: a wrong waiter passes its tests, only later. So whatever opens a
//     session for a test has it counted, and the test fails where a waiter was told by such a list what an event should have
//     told it. A program warns of it on its standard error, which [Listen] listens to.
package scene
