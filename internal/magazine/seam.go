package magazine

// A seam is a place on a slow path where a test build can wait: see delay. No seam is
// on the way of a hit in a shard. Those up to seamPopDirect are in a section.
type seam uint8

const (
	seamRefill     seam = iota // a Pop takes a magazine from the depot: the magazine is in hand
	seamUnload                 // a Push leaves a magazine to the depot: both of the shard's are full
	seamPushDirect             // a Push goes to the depot with its one block
	seamPopDirect              // a Pop takes one block from the depot
	seamReplace                // all shards are replaced: the old ones are unpublished, not drained
	seamGrow                   // a P without a shard has the array grow
	seams
)
