// Package sessionfile closes the ZooKeeper session of a predecessor that crashed, so that what it
// held is free at once. Session id and password are in a file of the owner's.
//
// # How to use it
//
// [Start] opens the file and begins to close the sessions in it. [Successor.Record] adds each
// session of our own and waits for the closing, [Successor.Stop] gives it up, and [Successor.Close]
// takes our session out when it has ended in order. Sessions that could not be closed stay for the
// next process. [Open] is the file alone.
//
// # One process at a time
//
// [Open] takes an advisory lock (flock) on the file and keeps it until Close: a second process gets
// ErrInUse. The kernel releases the lock when the process has ended, and no child inherits it
// (close-on-exec). So a process with the lock knows that its predecessor under the same run of the
// same kernel is dead, even in another container.
//
// Of other kernels the lock proves nothing: a file on NFS, a volume that moved from a host that is
// out of reach, the disk of a cloned machine. So the file names the kernel's run (Linux's boot_id),
// and a record of another run is passed over: its session expires by itself. Nothing guards against
// a copy of the file on the same host: make none.
//
// Nor against a virtual machine that is cloned with its memory, as from a live snapshot: a process
// that restarts in the clone finds the original's boot_id and a free lock, and closes or takes back
// the session of a living process. Use no session file there.
//
// # What is taken back
//
// A process may have its successor take back what it holds ([Successor.Reclaimable]), and says so
// in the file first. Then the successor does not close the session: it has the servers start the
// timeout anew, which ends any older connection, and keeps the session that long. Meanwhile it can
// replace a node of that session by its own, in one transaction. Then it closes the session, which
// frees the other locks. The file says until when that is, so further crashes do not prolong it.
//
// Two must never hold at once. The predecessor's lease may still run by its clock, but the file's
// lock proves that it is dead, and a dead process uses no lease. (One that is stopped, by SIGSTOP,
// still has the lock.) A late request of the dead process is refused if it depends on the node,
// which is gone (locks.Lease.Txn); elsewhere it is refused for its token, because the new one is
// greater. Nobody else can have held in between: the predecessor's node was the first of its queue
// until it was replaced, and the new one stands at its number. If the session has expired, the
// transaction says so.
//
// # Whose file
//
// A reader of the file can close the session, and a writer can have one closed. So Open is as
// strict as ssh with a private key. It refuses a symbolic link, anything but a regular file,
// another owner's file, one with a second name (a hard link), and one that group or others may read
// or write. It checks the open file, so nothing can be exchanged in between. A new file has mode
// 0600.
//
// # What is in it
//
// A line that says what it is, and a line of JSON. A file with anything else is refused, and never
// written to: its path was mistyped. One that begins as ours, or with zeros, and cannot be
// understood, as after a loss of power or of a later version, is read as empty; Unusable tells why.
// At worst one session then expires by itself.
//
// # Written in place
//
// The lock belongs to the file, not to one that is renamed over it. A write is one call, usually of
// less than a page, which a killed process does not leave half done. A longer one may leave a file
// that cannot be understood, or names a session that no server knows. The file is not forced to
// disk: it has to outlive the process, not the host.
package sessionfile
