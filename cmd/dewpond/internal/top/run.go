package top

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Run shows what the source says on the terminal, and reads keys from it, until one of them
// quits or ctx is done. It returns an error if nothing can be fetched at the beginning. Later
// the target may go away and come back.
func Run(ctx context.Context, source *Source, screen *Screen, in, out *os.File) error {
	first, err := source.Fetch(ctx)
	if err != nil {
		return err
	}
	screen.Observe(time.Now(), first, nil)

	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(in.Fd()), before)
	const begin, end = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l" // another page, without a cursor
	io.WriteString(out, begin)
	defer io.WriteString(out, end)

	pressed := make(chan byte)
	go readKeys(in, pressed)
	ticks := time.NewTicker(screen.Every)
	defer ticks.Stop()
	fetched, fetching := make(chan func(), 1), false // one at a time; what it sends observes
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		draw(out, screen)
		select {
		case <-ctx.Done():
			return nil
		case key, ok := <-pressed:
			if !ok || screen.Key(key) {
				return nil
			}
		case <-ticks.C:
			if !fetching { // the target may hang; keys do not wait for it
				fetching = true
				go func() {
					next, err := source.Fetch(ctx)
					fetched <- func() { screen.Observe(time.Now(), next, err) }
				}()
			}
		case observe := <-fetched:
			fetching = false
			observe()
		}
	}
}

// readKeys sends what is typed. It never ends while the terminal is open, and so lasts as long
// as the process.
func readKeys(in io.Reader, pressed chan<- byte) {
	defer close(pressed)
	var key [1]byte
	for {
		n, err := in.Read(key[:])
		if n > 0 {
			pressed <- key[0]
		}
		if err != nil {
			return
		}
	}
}

// draw writes the screen over the last one, in one piece so that it does not flicker.
func draw(out *os.File, screen *Screen) {
	height := 24
	if _, h, err := term.GetSize(int(out.Fd())); err == nil && h > 0 {
		height = h
	}
	const home, restOfLine, restOfScreen = "\x1b[H", "\x1b[K", "\x1b[J"
	lines := screen.Lines(terminal.StyleOf(out), height)
	io.WriteString(out, home+strings.Join(lines, restOfLine+"\r\n")+restOfLine+restOfScreen)
}
