// Package elections shows leader loops, campaigns and their observers, contests, and the members of a group: through
// cuts, expired sessions and pauses.
package elections
