// Package bad40 packs files into a tar stream.
package bad40

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
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return err
		}
		hdr, err := tar.FileInfoHeader(info, "")
		if err != nil {
			f.Close()
			return err
		}
		hdr.Name = name
		if err := tw.WriteHeader(hdr); err != nil {
			f.Close()
			return err
		}
		bp := copyBufs.Get().(*[]byte)
		defer copyBufs.Put(bp) // want `\(deferput\)`
		_, err = io.CopyBuffer(struct{ io.Writer }{tw}, struct{ io.Reader }{f}, *bp)
		f.Close()
		if err != nil {
			return err
		}
	}
	return tw.Close()
}
