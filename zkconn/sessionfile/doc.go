// Package sessionfile closes the ZooKeeper session of a predecessor that crashed, so that what it held is free at once
// and not when the session expires. Session id and password are in a file of the owner's.
//
// # How to use it
//
// [Start] opens the file and begins to close the sessions that are in it. [Successor.Record] puts
// each session of our own there and waits for the closing, [Successor.Stop] gives it up, and
// [Successor.Close] takes our session out again when it has ended in order. What could not be
// closed stays in the file for the next process. [Open] is the file alone.
//
// # One process at a time
//
// [Open] takes an advisory lock (flock) on the file itself and keeps it until Close, so two who live never share a
// session file: the second gets ErrInUse. The kernel lets go of the lock when the process has ended, however it ended,
// and no child inherits it (close-on-exec). So whoever has the lock knows that its predecessor under the same run of the
// same kernel is dead, in whatever container it ran, and may close that one's session.
//
// Of other kernels the lock proves nothing. A file on NFS, a volume that was taken from a host that cannot be reached and
// given to another, the disk of a cloned machine: the writer may live, believe in its lease, and must not lose its
// session to somebody who cannot know that. So the file says under which run of the kernel it was written (Linux's
// boot_id), and what another one wrote is passed over: that session expires by itself, as it would without the file.
// That goes for a restart of the host, too. What is left to the user is not to copy the file on the same host.
//
// # What is taken back
//
// A process may have its successor take back what it holds ([Successor.Reclaimable]). The file says so from before it
// holds anything like that. Then the successor does not close the session: it has its servers give it the whole
// timeout anew, by which they end any older connection of it, and keeps it that long. Meanwhile it can replace a node
// of that session by one of its own, in one transaction; then it closes the session, and what was not taken back is
// free.
//
// Two must never hold at once. The predecessor's lease may run by its own clock, for it is not known until when; but
// whoever has the lock of the file knows that the process is dead, and no lease is of use to the dead. One that is
// stopped (SIGSTOP) has not let go of the lock: the successor gets ErrInUse for as long as it is. What the dead one
// had sent before and arrives later is refused where it depends on the node (locks.Lease.Txn), because that node is
// gone, and by the token elsewhere, which is greater than its own. Nobody else can have held in between, because the
// predecessor's node was the first of its queue until it was replaced, and the new one stands at its number. If the
// session has expired the node is gone, and there is nothing to take back: the transaction says so.
//
// # Whose file
//
// Whoever reads the file can close the session, and whoever writes it can have a session closed. As ssh does with a
// private key, Open refuses a file that is a symbolic link or no regular file, that belongs to somebody else, that has
// another name (a hard link), or that its group or others may read or write. All of it is looked at through the open
// file, so nothing can be exchanged in between. A file that does not exist is made with mode 0600.
//
// # What is in it
//
// A line that says what it is, and a line of JSON. A file that holds anything else is refused, and never written to: a
// path that was mistyped must not cost the file that it names. A file that begins as ours does, or with zeros, and
// cannot be understood is what a host that lost power leaves behind, or a later version: it is read as empty, and
// Unusable tells why, for the worst that comes of it is one session that expires by itself, and a process that does not
// start until somebody comes is worse.
//
// # Written in place
//
// The file is written where it is, not replaced: the lock is the file's, and one that is renamed over it would not have
// it. A write is one call, and in any usual case of less than a page, which a process that is killed does not leave half
// done; a longer one that is cannot be understood, or names a session that no server knows. What is left behind the
// newest content is not read. It is not forced to the disk, for it has to outlive the process and not the host.
package sessionfile
