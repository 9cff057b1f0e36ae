package coordinator

// Guards. The node of a contest has a fixed name, and a request that this session sent over an older
// connection may be carried out late: after the session has moved to another server and committed
// transactions there (TestContestDeletedLate shows how). A late delete by that name would take the node of
// another session's holder. So beside the node stands its guard, an ephemeral sibling.
//
//   - One transaction makes the node and its guard. One transaction deletes the guard and the node.
//   - The name of a guard has the GUID of the request and the number of the create (Spec.guard). So no
//     two creates share one, of whatever session: a request that makes the node twice has two guards.
//   - So a guard exists only as long as the node that was made with it, and a removal is refused unless
//     the guard that it names exists. However late it is carried out, it deletes that node or nothing.
//   - A late create is refused where there is a node. Where there is none it makes both, and they are
//     found by the session and the GUID in the data, or removed as those of a node that no request owns.
//
// That fails only for a node that somebody deletes by itself, without its guard. Then the removal or the
// search of the request deletes the guard alone (Find, RemoveContest), and the request is not removed before.
// A guard that somebody deletes by itself is not missed before the removal, which then goes by the czxid
// of the node, and by its version.
