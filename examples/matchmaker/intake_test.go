package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/web"
)

// silent opens a connection whose upload stops after its first byte.
func silent(t *testing.T, r *running, uid, length int) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "PUT /api/v1/photos/%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n\xff", uid, length)
	return c
}

// slowly has the service wait for a body for so long, and for what it stands on as begin does.
func slowly(grace time.Duration) func(c *serveCommand) {
	return func(c *serveCommand) { c.bodyGrace = grace }
}

// Uploads that say nothing more have all the room there is, and give it to who waits for it.
func TestSilentUploadsMakeRoom(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, slowly(time.Millisecond)) // and 160 s for the length of each
	for i := range 3 {
		var taking []net.Conn
		for s := statsOf(t, "uploads"); s.InUseBytes+10<<20 < s.Budget.Limit; s = statsOf(t, "uploads") {
			if int64(len(taking))*10<<20 <= s.InUseBytes {
				taking = append(taking, silent(t, r, 1+len(taking), 10<<20))
			}
		}
		if code, _, err := r.put(t, 100+i, picture(t, 9<<20)); code != http.StatusOK || err != nil {
			t.Errorf("beside %d silent uploads: %d, %v", len(taking), code, err)
		}
		for _, c := range taking {
			c.Close()
		}
	}
	r.nothingInUse(t)
}

// An upload that does not come in the time for its size is answered with 408, and so is any body.
func TestBodiesHaveTheirTime(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, slowly(time.Millisecond))
	for _, text := range []string{
		"PUT /api/v1/photos/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\nabc",
		"PUT /api/v1/photos/7 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"POST /process HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"PUT /api/v1/users/7 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		c, err := net.Dial("tcp", r.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, text)
		answer, err := io.ReadAll(c) // the service closes the connection
		if !strings.HasPrefix(string(answer), "HTTP/1.1 408") || !strings.Contains(string(answer), "65536 bytes a second") {
			t.Errorf("%.30q is answered with %q, %v", text, answer, err)
		}
	}
	for _, text := range []string{ // nobody reads these bodies
		"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"GET /api/v1/matches?uid=7 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
	} {
		c, err := net.Dial("tcp", r.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, text)
		if answer, err := io.ReadAll(c); !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
			t.Errorf("%.30q is answered with %q, %v", text, answer, err)
		}
	}
	r.nothingInUse(t)
}

// One connection has no more than its share of the room for uploads, of however many streams.
func TestOneConnectionLeavesRoom(t *testing.T) {
	startsProcesses(t)
	r := begin(t) // who reads bodies waits a minute for them
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	defer tr.CloseIdleConnections()
	var (
		uploading sync.WaitGroup
		answers   = make(chan int, 60)
		stall     = make(chan struct{})
	)
	for i := range 60 {
		uploading.Go(func() {
			q, err := http.NewRequestWithContext(t.Context(), "PUT", fmt.Sprintf("http://%s/api/v1/photos/%d", r.HTTP, i+1), &stalled{until: stall})
			if err != nil {
				t.Error(err)
				return
			}
			q.ContentLength = 1 << 20
			if a, err := tr.RoundTrip(q); err == nil {
				answers <- a.StatusCode
				a.Body.Close() // when the body's Read ends
			}
		})
	}
	const most = web.LargestUpload >> 20 // that have their room at once
	for range 60 - most {
		if code := <-answers; code != http.StatusServiceUnavailable {
			t.Errorf("an upload above the connection's share: %d", code)
		}
	}
	if s := statsOf(t, "uploads"); s.Budget.Used > web.LargestUpload {
		t.Errorf("one connection has %d bytes of %d", s.Budget.Used, s.Budget.Limit)
	}
	if code, _, err := r.put(t, 100, picture(t, 9<<20)); code != http.StatusOK || err != nil {
		t.Errorf("an upload by another connection: %d, %v", code, err)
	}
	close(stall)
	uploading.Wait()
	r.nothingInUse(t)
}

// stalled is a body of one byte, whose next byte never comes.
type stalled struct {
	begun bool
	until chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	if !s.begun {
		s.begun = true
		return copy(p, "\xff"), nil
	}
	<-s.until
	return 0, io.ErrUnexpectedEOF
}

// A peer address has its share too, where it is asked for.
func TestOneAddressLeavesRoom(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, func(c *serveCommand) { c.UploadPerAddress = "11MiB" })
	first := silent(t, r, 7, 10<<20)
	for statsOf(t, "uploads").Budget.Used == 0 { // until it has its room
		time.Sleep(time.Millisecond)
	}
	if code, again, err := r.put(t, 8, picture(t, 9<<20)); code != http.StatusServiceUnavailable || again == "" || err != nil {
		t.Errorf("a second upload of the address: %d, Retry-After %q, %v", code, again, err)
	}
	first.Close()
	for code := 0; code != http.StatusOK; {
		code, _, _ = r.put(t, 8, picture(t, 9<<20))
	}
	r.nothingInUse(t)
}

// A GET does not read its body, whatever that says it is: files in it would go to the disk.
func TestGetParsesNoBody(t *testing.T) {
	startsProcesses(t)
	dir := t.TempDir()
	r := begin(t)
	t.Setenv("TMPDIR", dir) // from here on
	c, err := net.Dial("tcp", r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /api/v1/matches?uid=7 HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000000\r\n\r\n"+
		"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n")
	some := bytes.Repeat([]byte("x"), 1<<20)
	sent := 0
	for ; sent < 300; sent++ {
		if _, err := c.Write(some); err != nil {
			break // the service has answered, and reads no more
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "multipart-*")); len(files) > 0 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
	if sent == 300 {
		t.Errorf("it has read %d MiB of a body that it does not need", sent)
	}
}

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return append(binary.BigEndian.AppendUint32(append(b, flags), stream), payload...)
}

// A client that begins streams and takes them back, again and again, loses its connection.
func TestResetsAreBounded(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	c, err := net.Dial("tcp", r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const headers, reset, settings, ping, acknowledged = 1, 3, 4, 6, 1
	pongs := make(chan struct{}, 1)
	go func() { // until the connection ends
		defer close(pongs)
		for from := bufio.NewReader(c); ; {
			var head [9]byte
			if _, err := io.ReadFull(from, head[:]); err != nil {
				return
			}
			if _, err := from.Discard(int(binary.BigEndian.Uint32(head[:]) >> 8)); err != nil {
				return
			}
			if head[3] == ping && head[4]&acknowledged != 0 {
				pongs <- struct{}{}
			}
		}
	}()
	var fields []byte
	for _, text := range []string{":method", "PUT", ":scheme", "http", ":authority", "x", ":path", "/api/v1/photos/7", "content-length", "100"} {
		if len(fields) == 0 || text[0] == ':' || text == "content-length" {
			fields = append(fields, 0) // a field that is not kept
		}
		fields = append(append(fields, byte(len(text))), text...)
	}
	c.Write(append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0)...))
	open := true
	for stream := uint32(1); open && stream < 8*intake.MostResets; stream += 2 {
		begun := append(frame(headers, 4, stream, fields...), frame(reset, 0, stream, 0, 0, 0, 8)...)
		c.Write(append(begun, frame(ping, 0, 0, make([]byte, 8)...)...))
		_, open = <-pongs // it has seen all that
	}
	if open {
		t.Errorf("it takes %d streams that are taken back", 4*intake.MostResets)
	}
	c.Close()
	for range pongs {
	}
	r.ask(t, "GET", "/api/v1/users/7", "", 200)
	r.nothingInUse(t)
}
