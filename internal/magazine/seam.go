package magazine

// A seam is a place on a slow path where a test build can wait: see delay. A hit in a
// shard passes no seam. The seams up to seamPopDirect are in a section.
type seam uint8

const (
	seamRefill     seam = iota // a Pop takes a magazine from the depot: the magazine is in hand
	seamUnload                 // a Push passes a magazine on to the depot: both of the shard's are full
	seamPushDirect             // a Push goes to the depot with its one block
	seamPopDirect              // a Pop takes one block from the depot
	seamReplace                // all shards are replaced: the old ones are unpublished, not drained
	seamGrow                   // a P without a shard makes the array grow
	seams
)
