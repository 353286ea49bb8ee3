// Package bad05 counts flows and hands them to an exporter.
package bad05

import (
	"log"
	"net/netip"
	"sync"
)

// Traffic is one observed flow.
type Traffic struct {
	Src, Dst netip.Addr
	Bytes    int64
}

var trafficPool = sync.Pool{New: func() any { return &Traffic{} }}

// Collector observes packets.
type Collector struct {
	out    chan *Traffic
	logger *log.Logger
}

// NewCollector starts the exporter.
func NewCollector(l *log.Logger) *Collector {
	c := &Collector{out: make(chan *Traffic, 512), logger: l}
	go c.export()
	return c
}

func (c *Collector) export() {
	for t := range c.out {
		c.logger.Printf("flow %s -> %s: %d bytes", t.Src, t.Dst, t.Bytes)
	}
}

// Observe accounts for one packet.
func (c *Collector) Observe(src, dst netip.Addr, n int64) {
	t := trafficPool.Get().(*Traffic)
	defer trafficPool.Put(t)
	t.Src, t.Dst, t.Bytes = src, dst, n
	select {
	case c.out <- t: // want `\(returnput\)`
	default:
		c.logger.Print("exporter is slow, flow dropped")
	}
}
