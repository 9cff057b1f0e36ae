// Package sessionfile closes the ZooKeeper session of a predecessor that crashed, so that what it
// held is free at once and not when the session expires. Session id and password are in a file of
// the owner's.
//
// # How to use it
//
// [Start] opens the file and begins to close the sessions that are in it. [Successor.Record] puts
// each session of our own there and waits for the closing, [Successor.Stop] gives it up, and
// [Successor.Close] takes our session out again when it has ended in order. Sessions that could not
// be closed stay in the file for the next process. [Open] is the file alone.
//
// # One process at a time
//
// [Open] takes an advisory lock (flock) on the file itself and keeps it until Close, so two live
// processes never share a session file: the second gets ErrInUse. The kernel releases the lock when
// the process has ended, however it ended, and no child inherits it (close-on-exec). So a process
// that has the lock knows that its predecessor under the same run of the same kernel is dead, even
// in another container, and may close its session.
//
// Of other kernels the lock proves nothing: a file on NFS, a volume that moved from a host that is
// out of reach, the disk of a cloned machine. The writer may live and believe in its lease, and
// must not lose its session.
//
// So the file says under which run of the kernel it was written (Linux's boot_id). A record of
// another run, as before a restart of the host, is passed over, and its session expires by itself.
// Nothing guards against a copy of the file on the same host: make none.
//
// Nor does anything guard against a virtual machine that is cloned with its memory, as from a live
// snapshot. The clone has the boot_id of the original and a kernel of its own. A process that is
// restarted inside it finds the lock free, and closes or takes back the session of the original,
// whose process lives. Use no session file on machines that are cloned so.
//
// # What is taken back
//
// A process may have its successor take back what it holds ([Successor.Reclaimable]). The file says
// so from before it holds anything like that. Then the successor does not close the session: it has
// the servers start the timeout anew, by which they end any older connection of it, and keeps the
// session that long. Meanwhile it can replace a node of that session by one of its own, in one
// transaction. Then it closes the session, and locks that were not taken back are free. The file
// says until when that is. So a process that crashes again and again does not prolong it: each
// successor keeps the session for the rest of that time.
//
// Two must never hold at once. The predecessor's lease may still run by its own clock, and nobody
// knows until when. But the process that has the lock of the file knows that the predecessor is
// dead, and a dead process uses no lease. A predecessor that is only stopped (SIGSTOP) still has
// the lock, so its successor gets ErrInUse. A late request of the dead process is refused if it
// depends on the node, which is gone (locks.Lease.Txn); elsewhere it is refused for its token,
// because the new one is greater. Nobody else can have held in between, because the predecessor's
// node was the first of its queue until it was replaced, and the new one stands at its number. If
// the session has expired there is nothing to take back: the transaction says so.
//
// # Whose file
//
// A reader of the file can close the session, and a writer can have a session closed. So Open is as
// strict as ssh is with a private key. It refuses a symbolic link, anything but a regular file, a
// file of another owner, one with a second name (a hard link), and one that its group or others may
// read or write. It checks all of this through the open file, so nothing can be exchanged in
// between. A file that does not exist is made with mode 0600.
//
// # What is in it
//
// A line that says what it is, and a line of JSON. A file that holds anything else is refused, and
// never written to: a path that was mistyped must not cost the file that it names.
//
// A file that begins as ours does, or with zeros, and cannot be understood is read as empty;
// Unusable tells why. A host that lost power leaves such a file behind, or a later version. At
// worst one session then expires by itself. A process that does not start until somebody comes
// would be worse.
//
// # Written in place
//
// The file is written in place, because the lock belongs to it, and not to a file that is renamed
// over it. A write is one call, usually of less than a page, which a killed process does not leave
// half done. A longer write that is half done leaves a file that cannot be understood, or that
// names a session that no server knows. Older content after the newest is not read. The file is not
// forced to the disk, for it has to outlive the process and not the host.
package sessionfile
