package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"
)

// npzPredictions writes arrays side by side. The header of an array tells how many rows
// follow, and how long the longest text is, so that each array grows in a file of its own
// until all rows are there.
type npzPredictions struct {
	w                                    io.Writer
	what                                 Predictions
	ids, classes, largest, probabilities *spool
	rows, longest                        int
	buffer                               []byte
}

// spool is a file without a name that is written, and then read from its start.
type spool struct {
	file *os.File
	*bufio.Writer
}

func newSpool(folder string) (*spool, error) {
	file, err := os.CreateTemp(folder, ".predictions.tmp-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return &spool{file, bufio.NewWriterSize(file, 1<<16)}, nil
}

// into begins an array of what was spooled, and returns that from its start.
func (s *spool) into(file NPZ, name, descr string, shape ...int) (io.Writer, *bufio.Reader, error) {
	if err := s.Flush(); err != nil {
		return nil, nil, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	w, err := file.Array(name, descr, shape...)
	return w, bufio.NewReaderSize(s.file, 1<<16), err
}

func newNPZPredictions(w io.Writer, folder string, p Predictions) (predictionWriter, error) {
	n := &npzPredictions{w: w, what: p, longest: 1}
	for _, spool := range []**spool{&n.ids, &n.classes, &n.largest, &n.probabilities} {
		var err error
		if *spool, err = newSpool(folder); err != nil {
			n.release()
			return nil, err
		}
	}
	return n, nil
}

func (n *npzPredictions) release() {
	for _, spool := range []*spool{n.ids, n.classes, n.largest, n.probabilities} {
		if spool != nil {
			spool.file.Close()
		}
	}
}

func (n *npzPredictions) add(id string, class int, probabilities []float32) error {
	length := utf8.RuneCountInString(id)
	if length > maxText/4 { // of four bytes each
		return fmt.Errorf("an id of %d characters", length)
	}
	n.rows, n.longest = n.rows+1, max(n.longest, length)
	n.buffer = binary.AppendUvarint(n.buffer[:0], uint64(len(id)))
	if _, err := n.ids.Write(append(n.buffer, id...)); err != nil {
		return err
	}
	n.buffer = binary.LittleEndian.AppendUint64(n.buffer[:0], uint64(class))
	if _, err := n.classes.Write(n.buffer); err != nil {
		return err
	}
	if err := n.writeFloats(n.largest, probabilities[class:class+1]); err != nil || !n.what.Probabilities {
		return err
	}
	return n.writeFloats(n.probabilities, probabilities)
}

func (n *npzPredictions) writeFloats(w io.Writer, values []float32) error {
	n.buffer = n.buffer[:0]
	for _, v := range values {
		n.buffer = binary.LittleEndian.AppendUint32(n.buffer, math.Float32bits(v))
	}
	_, err := w.Write(n.buffer)
	return err
}

// close writes the archive.
func (n *npzPredictions) close() error {
	defer n.release()
	file := NewNPZ(n.w)
	err := errors.Join(
		n.writeTexts(file, "ids", n.ids),
		n.copyArray(file, "classes", "<i8", n.classes, n.rows),
		n.copyArray(file, "probability", "<f4", n.largest, n.rows),
		file.ClassNames(n.what.Classes),
	)
	if err == nil && n.what.Probabilities {
		err = n.copyArray(file, "probabilities", "<f4", n.probabilities, n.rows, len(n.what.Classes))
	}
	if err != nil {
		return err
	}
	return file.Close()
}

func (n *npzPredictions) copyArray(file NPZ, name, descr string, from *spool, shape ...int) error {
	w, content, err := from.into(file, name, descr, shape...)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

// writeTexts writes texts of which each is spooled after its length.
func (n *npzPredictions) writeTexts(file NPZ, name string, from *spool) error {
	w, content, err := from.into(file, name, textType(n.longest), n.rows)
	if err != nil {
		return err
	}
	for range n.rows {
		length, err := binary.ReadUvarint(content)
		if err != nil {
			return err
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(content, text); err != nil {
			return err
		}
		if _, err := w.Write(wide(n.buffer[:0], string(text), n.longest)); err != nil {
			return err
		}
	}
	return nil
}
