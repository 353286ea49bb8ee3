package region

import "github.com/redis/go-redis/v9"

// Pools calls each for the connections to every node.
func (m *Map) Pools(each func(region, node string, s *redis.PoolStats)) {
	for _, r := range m.regions {
		for n := range r.nodes {
			each(r.name, n.address(), n.client.PoolStats())
		}
	}
}

// Down calls each for every node: whether it is down, how many commands were refused meanwhile,
// and how often that has changed.
func (m *Map) Down(each func(region, node string, down bool, refused, changes uint64)) {
	for _, r := range m.regions {
		for n := range r.nodes {
			each(r.name, n.address(), n.down.Load(), n.refused.Load(), n.changes.Load())
		}
	}
}

// Replicas calls each for every replica: whether it is read, and how many bytes of writes it
// lacked at the last probe, which is negative where nobody knows.
func (m *Map) Replicas(each func(region, node string, read bool, lag int64)) {
	for _, r := range m.regions {
		for i, n := range r.replicas {
			lag, read, ok := r.ledger.lag(i)
			if !ok {
				lag = -1
			}
			each(r.name, n.address(), read && !n.down.Load(), lag)
		}
	}
}

// Reads calls each for every region: how many reads a replica has answered, how many went to the
// primary because no replica that may be read had the key's last write, and how many because no
// replica may be read.
func (m *Map) Reads(each func(region string, replica, own, primary uint64)) {
	for _, r := range m.regions {
		each(r.name, r.reads[fromReplica].Load(), r.reads[fromPrimaryForOwn].Load(), r.reads[fromPrimary].Load())
	}
}
