package embedded

import "slices"

// authenticate adds an identity to the connection. Whoever cannot show one is told so, and cut off.
func (c *conn) authenticate(xid int32, d *decoder) bool {
	d.int32()
	scheme := d.text()
	secret := d.bytes()
	if d.err != nil {
		return false
	}
	var who identity
	switch {
	case scheme == "digest" && secret != nil:
		who = identity{"digest", digest(string(secret))}
	case scheme == "ip":
		who = c.who[0]
	default:
		c.reply(xid, 0, codeAuthFailed, nil)
		return false
	}
	if !slices.Contains(c.who, who) {
		c.who = append(c.who, who)
	}
	c.reply(xid, 0, codeOK, nil)
	return true
}
