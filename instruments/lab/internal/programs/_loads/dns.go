package load

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

var dewpondLoads = map[string]dewpondLoad{
	"1000 queries a second": dewpondDNSOpen,
	"64 queries at a time":  dewpondDNSClosed,
}

// dewpondDNSServer answers every query with an address. It returns one query, whose first two bytes
// are its ID, and sockets to send it from.
func dewpondDNSServer(t *testing.T, sockets int) (query []byte, all []net.Conn) {
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &Server{PacketConn: listener, UDPSize: 4096, Handler: HandlerFunc(func(w ResponseWriter, asked *Msg) {
		answer := new(Msg).SetReply(asked)
		answer.Answer = []RR{&A{Hdr: RR_Header{Name: asked.Question[0].Name, Rrtype: TypeA, Class: ClassINET, Ttl: 60}, A: net.IPv4(192, 0, 2, 1)}}
		w.WriteMsg(answer)
	})}
	go server.ActivateAndServe()
	t.Cleanup(func() { listener.Close() })
	if query, err = new(Msg).SetQuestion("host.example.", TypeA).Pack(); err != nil {
		t.Fatal(err)
	}
	for range sockets {
		c, err := net.Dial("udp", listener.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all = append(all, c)
	}
	return query, all
}

func dewpondDNSOpen(t *testing.T, ops int) []time.Duration {
	query, sockets := dewpondDNSServer(t, 4)
	var open dewpondOpen
	due := make([]time.Time, 1<<16) // by ID
	for _, s := range sockets {
		go func() {
			answer := make([]byte, 4096)
			for {
				n, err := s.Read(answer)
				if err != nil {
					return
				}
				if n > 2 {
					open.done(due[binary.BigEndian.Uint16(answer)])
				}
			}
		}()
	}
	return open.run(ops, time.Second/1000, func(i int, at time.Time) {
		due[uint16(i)] = at
		binary.BigEndian.PutUint16(query, uint16(i))
		if _, err := sockets[i%len(sockets)].Write(query); err != nil {
			t.Error(err)
		}
	})
}

// Each socket has 16 queries under way: it sends one for each answer.
func dewpondDNSClosed(t *testing.T, ops int) []time.Duration {
	const atATime = 16
	query, sockets := dewpondDNSServer(t, 4)
	var answered atomic.Int64
	ended := make(chan error, len(sockets))
	for _, s := range sockets {
		go func() {
			answer := make([]byte, 4096)
			for range atATime {
				s.Write(query)
			}
			for i := 0; answered.Add(1) < int64(ops); i++ {
				if i%1000 == 0 {
					s.SetReadDeadline(time.Now().Add(5 * time.Second)) // if all were lost
				}
				if _, err := s.Read(answer); err != nil {
					ended <- err
					return
				}
				s.Write(query)
			}
			ended <- nil
		}()
	}
	for range sockets {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	return nil
}
