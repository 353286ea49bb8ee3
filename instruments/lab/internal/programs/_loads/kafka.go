package load

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	versionsAPI "github.com/segmentio/kafka-go/protocol/apiversions"
	metadataAPI "github.com/segmentio/kafka-go/protocol/metadata"
	produceAPI "github.com/segmentio/kafka-go/protocol/produce"
)

var dewpondLoads = map[string]dewpondLoad{
	"steady, 16 producers of 512 KB":              dewpondSteady,
	"bursts of 32 producers, then 150 MB garbage": dewpondBursts,
}

// dewpondProducer returns a function that sends a request of 512 KB to a broker in this process, and reads its answer. The
// broker keeps nothing, and decodes only the request's header, so the pages are the client's.
func dewpondProducer(t *testing.T) (send func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	at := listener.Addr().(*net.TCPAddr)
	answers := map[protocol.ApiKey]protocol.Message{
		protocol.ApiVersions: &versionsAPI.Response{ApiKeys: []versionsAPI.ApiKeyResponse{
			{ApiKey: int16(protocol.ApiVersions), MaxVersion: 2}, {ApiKey: int16(protocol.Metadata), MaxVersion: 8}, {ApiKey: int16(protocol.Produce), MaxVersion: 8},
		}},
		protocol.Metadata: &metadataAPI.Response{
			Brokers: []metadataAPI.ResponseBroker{{NodeID: 1, Host: "127.0.0.1", Port: int32(at.Port)}},
			Topics:  []metadataAPI.ResponseTopic{{Name: "topic", Partitions: []metadataAPI.ResponsePartition{{LeaderID: 1}}}},
		},
		protocol.Produce: &produceAPI.Response{Topics: []produceAPI.ResponseTopic{{Topic: "topic", Partitions: []produceAPI.ResponsePartition{{}}}}},
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				var head [12]byte // size, key, version, correlation
				for {
					if _, err := io.ReadFull(r, head[:]); err != nil {
						return
					}
					if _, err := r.Discard(int(binary.BigEndian.Uint32(head[:])) - 8); err != nil {
						return
					}
					key := protocol.ApiKey(binary.BigEndian.Uint16(head[4:]))
					if protocol.WriteResponse(c, int16(binary.BigEndian.Uint16(head[6:])), int32(binary.BigEndian.Uint32(head[8:])), answers[key]) != nil {
						return
					}
				}
			}()
		}
	}()
	transport := &Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, value := &Client{Addr: at, Transport: transport}, make([]byte, 512<<10)
	return func() {
		r, err := client.Produce(context.Background(), &ProduceRequest{Topic: "topic", RequiredAcks: RequireOne, Records: NewRecordReader(Record{Value: NewBytes(value)})})
		if err == nil {
			err = r.Error
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func dewpondSteady(t *testing.T, requests int) []time.Duration {
	const producers = 16
	send := dewpondProducer(t)
	var running sync.WaitGroup
	for range producers {
		running.Go(func() {
			for range requests / producers {
				send()
			}
		})
	}
	running.Wait()
	return nil
}

var dewpondGarbage []byte

// The garbage after a burst is of others, for two GC cycles or more.
func dewpondBursts(t *testing.T, bursts int) []time.Duration {
	send := dewpondProducer(t)
	for range bursts {
		var running sync.WaitGroup
		for range 32 {
			running.Go(send)
		}
		running.Wait()
		for range 150 {
			dewpondGarbage = make([]byte, 1_000_000)
		}
	}
	return nil
}
