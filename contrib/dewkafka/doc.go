// Package dewkafka gives franz-go, a client of Kafka, its pools: the bytes that it
// decompresses batches into, and the slices of records. The program that consumes calls
// [kgo.Record.Recycle] on each record that it has done with, and must not use the record,
// its key or its value after that.
//
// Records that franz-go has fetched and nobody has polled when the client is closed are
// left to the collector.
package dewkafka
