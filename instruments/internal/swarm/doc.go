// Package swarm spreads a load over several processes, here or on other machines. It is the only
// package that knows NATS.
//
// A coordinator calls agents, gives each the plan and a part of its arrivals, and a time to start
// at. Arrival i belongs to agent i mod N of the same seeded schedule. Each second an agent
// publishes what it measured, under a subject of its own that the stream takes once: a publish
// that is repeated, because the answer to it was lost, is refused. The coordinator adds up what
// the stream has.
package swarm
