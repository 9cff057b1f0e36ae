package messages

// Notices of an actor that acquires several locks as one. Suspended, Resumed, RevokeRequested and Revoked of the
// single locks are passed on as they are.
type (
	// AllHeld: every lock is held, and AllLost has not been told. Locks are in the order in which they were taken.
	AllHeld struct{ Locks []Held }
	// AllReleased: all were given back, and no node is left. Terminal.
	AllReleased struct{ Locks []Grant }
	// AllLost: one was lost, and the others have been given back. Terminal.
	AllLost struct{ Lost }
	// AllCancelled: the request ended before all were held, and no node is left. Terminal. The Grant is that of the
	// lock that was waited for.
	AllCancelled struct{ Cancelled }
	// AllFailed: one could not be had, or could not be given back, and the others have been given back. Terminal.
	AllFailed struct{ Failed }
)
