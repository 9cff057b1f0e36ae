// Package web serves the dashboard: its pages, the streams of events that keep them up to date, and the one request
// that writes, which asks a lock back.
//
// Text from ZooKeeper may be anybody's. It leaves here as JSON only, and the pages write it as text
// only. The policy that goes with them (Content-Security-Policy) lets only the page's own
// scripts run, and loads no file of another host. By Trusted Types, it lets no text be turned into
// markup.
//
// Without a token nothing can be written at all. With one, a request is carried out when it is a
// POST of JSON that carries the token and does not come from another origin's page. To read needs
// no token: who can reach the dashboard sees the locks. Requests are answered only for addresses,
// localhost and the allowed names. So no other site can reach the dashboard through a name that it
// points here (DNS rebinding).
package web
