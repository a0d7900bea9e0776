package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"iwda/internal/heading"
	"iwda/internal/system"
)

// npzPredictions writes arrays one after the other. The header of an array tells how many rows
// follow, and how long the longest text is, so that rows are spooled, in a file without a
// name, until all are there: of each the length of its id, the id, the class, its probability,
// those of all classes where they are written, and of each class whether it is in the set.
type npzPredictions struct {
	w             io.Writer
	what          Predictions
	file          *os.File
	spool         *bufio.Writer
	rows, longest int
	buffer        []byte
}

func newNPZPredictions(w io.Writer, folder string, p Predictions) (predictionWriter, error) {
	file, err := system.OpenFile(filepath.Join(folder, fmt.Sprintf(".predictions.tmp-%016x", rand.Uint64())), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return &npzPredictions{w: w, what: p, file: file, spool: bufio.NewWriterSize(file, 1<<16), longest: 1}, nil
}

func (n *npzPredictions) add(id string, class int, probabilities []float32, set []int) error {
	length := utf8.RuneCountInString(id)
	if length > maxText/4 { // of four bytes each
		return fmt.Errorf("an id of %d characters", length)
	}
	n.rows, n.longest = n.rows+1, max(n.longest, length)
	n.buffer = append(binary.AppendUvarint(n.buffer[:0], uint64(len(id))), id...)
	n.buffer = binary.LittleEndian.AppendUint64(n.buffer, uint64(class))
	n.buffer, _ = binary.Append(n.buffer, binary.LittleEndian, probabilities[class])
	if n.what.Probabilities {
		n.buffer, _ = binary.Append(n.buffer, binary.LittleEndian, probabilities)
	}
	if n.what.Sets {
		member := make([]byte, len(n.what.Classes))
		for _, class := range set {
			member[class] = 1
		}
		n.buffer = append(n.buffer, member...)
	}
	_, err := n.spool.Write(n.buffer)
	return err
}

// close writes the archive.
func (n *npzPredictions) close() error {
	defer n.file.Close()
	if err := n.spool.Flush(); err != nil {
		return err
	}
	const class, largest = 8, 8 + 4 // where the numbers of a row end
	numbers := largest
	if n.what.Probabilities {
		numbers += 4 * len(n.what.Classes)
	}
	probabilities := numbers
	if n.what.Sets {
		numbers += len(n.what.Classes)
	}
	part := func(from, to int) func(id, numbers []byte) []byte {
		return func(_, numbers []byte) []byte { return numbers[from:to] }
	}
	file := NewNPZ(n.w)
	ids := func(id, _ []byte) []byte {
		n.buffer = wide(n.buffer[:0], string(id), n.longest)
		return n.buffer
	}
	steps := []func() error{
		func() error { return n.array(file, "ids", textType(n.longest), numbers, ids, n.rows) },
		func() error { return n.array(file, heading.PredictedClass, "<i8", numbers, part(0, class), n.rows) },
		func() error { return n.array(file, heading.Probability, "<f4", numbers, part(class, largest), n.rows) },
		func() error { return file.ClassNames(n.what.Classes) },
	}
	if n.what.Probabilities {
		steps = append(steps, func() error {
			return n.array(file, "probabilities", "<f4", numbers, part(largest, probabilities), n.rows, len(n.what.Classes))
		})
	}
	if n.what.Sets {
		steps = append(steps, func() error {
			return n.array(file, "set", "|b1", numbers, part(probabilities, numbers), n.rows, len(n.what.Classes))
		})
	}
	for _, step := range append(steps, file.Close) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// array writes an array of what part returns of the id and the numbers of each spooled row.
func (n *npzPredictions) array(file NPZ, name, descr string, numbers int, part func(id, numbers []byte) []byte, shape ...int) error {
	w, err := file.Array(name, descr, shape...)
	if err != nil {
		return err
	}
	if _, err := n.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	rows := bufio.NewReaderSize(n.file, 1<<16)
	var row []byte
	for range n.rows {
		length, err := binary.ReadUvarint(rows)
		if err != nil {
			return err
		}
		size := int(length) + numbers
		row = slices.Grow(row[:0], size)[:size]
		if _, err := io.ReadFull(rows, row); err != nil {
			return err
		}
		if _, err := w.Write(part(row[:length], row[length:])); err != nil {
			return err
		}
	}
	return nil
}
