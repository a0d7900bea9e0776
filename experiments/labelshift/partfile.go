package labelshift

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"iwda/datasets/table"
	"iwda/internal/input"
	"iwda/internal/wholefile"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// The file of a part begins with partMagic and a line of JSON, a partHeader. The sums
// follow, and those of each replica, as weightest.Sums are written. It ends with the SHA-256
// of all before.
const partMagic = PartStart + " 1\n"

// PartStart is how the file of a part begins, in whatever version.
const PartStart = "iwda label-shift sums"

// partHeader is what the file of a part says before its sums.
type partHeader struct {
	Width    int      `json:"width"` // k
	Classes  []string `json:"classes,omitempty"`
	Replicas int      `json:"replicas"` // 0: no bootstrap
	Seed     uint64   `json:"seed"`
	Source   []Span   `json:"source"`
	Target   []Span   `json:"target"`
}

// size returns the number of bytes of the sums of so many classes.
func (h partHeader) size() float64 {
	return (float64(h.Replicas) + 1) * weightest.SumsBytes(h.Width)
}

// Write writes the part as a file, in one step.
func (p *Part) Write(path string) error { return p.WriteOn(nil, path) }

// WriteOn is Write on a disk whose calls may fail.
func (p *Part) WriteOn(disk *wholefile.Disk, path string) error {
	return disk.Write(path, func(w io.Writer) error {
		hash := sha256.New()
		if err := p.write(bufio.NewWriter(io.MultiWriter(w, hash))); err != nil {
			return err
		}
		_, err := w.Write(hash.Sum(nil))
		return err
	})
}

func (p *Part) write(w *bufio.Writer) error {
	header := partHeader{Width: p.Sums.Classes(), Classes: p.Classes, Source: p.Source, Target: p.Target}
	if p.Replicas != nil {
		header.Replicas, header.Seed = p.Replicas.Count(), p.Replicas.Seed()
	}
	line, err := json.Marshal(header)
	if err != nil {
		return err
	}
	w.WriteString(partMagic)
	w.Write(append(line, '\n'))
	if err := p.Sums.Write(w); err != nil {
		return err
	}
	if p.Replicas != nil {
		if err := p.Replicas.Write(w); err != nil {
			return err
		}
	}
	return w.Flush()
}

// ReadPart reads a file that Write wrote. A file that is not one, or not a whole one, is
// an error; memory is taken for no more than the file holds.
func ReadPart(path string) (*Part, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	p, err := readPart(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// readPart reads a part of so many bytes.
func readPart(r io.Reader, size int64) (*Part, error) {
	hash := sha256.New()
	content := bufio.NewReader(io.TeeReader(io.LimitReader(r, size-sha256.Size), hash))
	header, read, err := readHeader(content)
	if err != nil {
		return nil, err
	}
	if float64(size) != float64(read)+header.size()+sha256.Size {
		return nil, fmt.Errorf("%d bytes instead of %.0f: the file is not whole", size, float64(read)+header.size()+sha256.Size)
	}
	p := &Part{Classes: header.Classes, Source: header.Source, Target: header.Target}
	// The file has been found to be long enough for them.
	if p.Sums, err = weightest.ReadSums(content, header.Width); err != nil {
		return nil, err
	}
	if header.Replicas > 0 {
		if p.Replicas, err = intervals.ReadReplicas(content, header.Width, header.Replicas, header.Seed); err != nil {
			return nil, err
		}
	}
	var want [sha256.Size]byte
	if _, err := io.ReadFull(r, want[:]); err != nil {
		return nil, err
	}
	if !bytes.Equal(hash.Sum(nil), want[:]) {
		return nil, errors.New("its content is not what was written: the checksum differs")
	}
	return p, nil
}

// readHeader returns the header and the number of bytes before the sums.
func readHeader(r *bufio.Reader) (header partHeader, read int, err error) {
	magic := make([]byte, len(partMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != partMagic {
		return header, 0, errors.New("not a file of sums that --partial wrote")
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return header, 0, fmt.Errorf("no header: %w", err)
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return header, 0, fmt.Errorf("header: %w", err)
	}
	return header, len(magic) + len(line), header.check()
}

func (h partHeader) check() error {
	switch {
	case h.Width < 1 || h.Width > table.MaxClasses:
		return fmt.Errorf("%d classes", h.Width)
	case h.Classes != nil && len(h.Classes) != h.Width:
		return fmt.Errorf("%d names for %d classes", len(h.Classes), h.Width)
	case h.Replicas < 0 || h.Replicas > math.MaxInt32:
		return fmt.Errorf("%d replicas", h.Replicas)
	}
	for _, spans := range [][]Span{h.Source, h.Target} {
		for i, span := range spans {
			if span.First > span.Last || i > 0 && span.First < spans[i-1].Last {
				return fmt.Errorf("rows from %d to %d", span.First, span.Last)
			}
		}
	}
	return nil
}
