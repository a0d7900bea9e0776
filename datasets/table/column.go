package table

import (
	"fmt"
	"io"
	"slices"
)

// chunk is how many bytes of a file are read at once.
const chunk = 1 << 18

// column reads an array row after row.
type column struct {
	*array
	r      io.ReadCloser
	row    int // how many were read
	size   int // bytes a row
	buffer []byte
	// whole are all bytes of an array that is stored by column.
	whole []byte
	part  []float32 // of such a column
	// origins are those of an array of values, and samples of its columns; nil for none.
	origins []float64
	samples []sample
}

// read opens an array of one or two dimensions.
func (a *array) read() (*column, error) {
	r, err := a.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	size, _ := bytesOf(a.shape[1:], a.element.size)
	rows := max(1, min(chunk/size, a.shape[0]))
	return &column{array: a, r: r, size: size, buffer: make([]byte, rows*size)}, nil
}

// readValues opens an array of rows. Those that are stored column after column, as NumPy does
// in Fortran order and hence for most data frames, are all read before, unless they are mapped.
func (a *array) readValues() (*column, error) {
	c, err := a.read()
	if err != nil || !a.byColumn {
		return c, err
	}
	if c.whole = a.mapped; c.whole != nil {
		if a.intact == nil {
			return c, nil
		}
		if err := a.intact(); err != nil {
			c.Close()
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		return c, nil
	}
	c.buffer = make([]byte, a.shape[0]*c.size)
	if c.whole, err = c.next(a.shape[0]); err != nil {
		c.Close()
		return nil, err
	}
	c.row = 0
	return c, nil
}

func (c *column) Close() error { return c.r.Close() }

// next reads up to n further rows, at most what the buffer holds. After the last row it
// looks whether the file ends there.
func (c *column) next(n int) ([]byte, error) {
	n = min(n, len(c.buffer)/c.size)
	part := c.buffer[:n*c.size]
	if got, err := io.ReadFull(c.r, part); err != nil {
		return nil, fmt.Errorf("%s: row %d: %w", c.name, c.row+got/c.size, notWhole("truncated", err))
	}
	if c.row += n; c.row < c.shape[0] {
		return part, nil
	}
	switch _, err := io.ReadFull(c.r, make([]byte, 1)); err {
	case io.EOF:
		return part, nil
	case nil:
		return nil, fmt.Errorf("%s: more bytes than %d rows have", c.name, c.row)
	default:
		return nil, fmt.Errorf("%s: after row %d: %w", c.name, c.row-1, err)
	}
}

// appendFloats appends the values of n rows that are there.
func (c *column) appendFloats(values []float32, n int) ([]float32, error) {
	if c.whole != nil {
		return c.gather(values, n), nil
	}
	for n > 0 {
		part, err := c.next(n)
		if err != nil {
			return values, err
		}
		values = extend(values, len(part)/c.element.size)
		c.element.floats(values[len(values)-len(part)/c.element.size:], part, c.origins)
		n -= len(part) / c.size
		for ; c.samples != nil && len(part) > 0; part = part[c.size:] {
			c.sample(func(j int) []byte { return part[j*c.element.size:] })
		}
	}
	return values, nil
}

// sample adds a row to the samples, if it is one of them, whose elements are at the places that at returns.
func (c *column) sample(at func(j int) []byte) {
	if c.samples[0].due() {
		for j := range c.samples {
			c.samples[j].add(c.element.wide(at(j)))
		}
	}
}

// gather is appendFloats of an array that is stored by column.
func (c *column) gather(values []float32, n int) []float32 {
	rows, width, size := c.shape[0], c.shape[1], c.element.size
	values = extend(values, n*width)
	added := values[len(values)-n*width:]
	c.part = extend(c.part[:0], n)
	for j := range width {
		var origins []float64
		if c.origins != nil {
			origins = c.origins[j : j+1]
		}
		c.element.floats(c.part, c.whole[(j*rows+c.row)*size:][:n*size], origins)
		for i, v := range c.part {
			added[i*width+j] = v
		}
	}
	for i := 0; c.samples != nil && i < n; i++ {
		c.sample(func(j int) []byte { return c.whole[(j*rows+c.row+i)*size:] })
	}
	c.row += n
	return values
}

// append appends n elements that are there, as texts.
func (c *column) append(texts []string, n int) ([]string, error) {
	for n > 0 {
		first := c.row
		part, err := c.next(n)
		if err != nil {
			return texts, err
		}
		for i := 0; i < len(part); i += c.size {
			text, err := c.element.text(part[i : i+c.size])
			if err != nil {
				return texts, fmt.Errorf("%s: row %d: %w", c.name, first+i/c.size, err)
			}
			texts = append(texts, text)
		}
		n -= len(part) / c.size
	}
	return texts, nil
}

// extend makes values longer by n; what is new is not set.
func extend(values []float32, n int) []float32 { return slices.Grow(values, n)[:len(values)+n] }
