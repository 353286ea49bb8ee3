// Package ok17 packs files into a tar stream.
package ok17

import (
	"archive/tar"
	"io"
	"io/fs"
	"sync"
)

var copyBufs = sync.Pool{
	New: func() any {
		b := make([]byte, 256<<10)
		return &b
	},
}

// Pack writes the named files of fsys to w.
func Pack(w io.Writer, fsys fs.FS, names []string) error {
	tw := tar.NewWriter(w)
	for _, name := range names {
		err := func() error {
			f, err := fsys.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			hdr, err := tar.FileInfoHeader(info, "")
			if err != nil {
				return err
			}
			hdr.Name = name
			if err := tw.WriteHeader(hdr); err != nil {
				return err
			}
			bp := copyBufs.Get().(*[]byte)
			defer copyBufs.Put(bp)
			_, err = io.CopyBuffer(struct{ io.Writer }{tw}, struct{ io.Reader }{f}, *bp)
			return err
		}()
		if err != nil {
			return err
		}
	}
	return tw.Close()
}
