package table

// valuesReader reads the values of rows in order.
type valuesReader interface {
	// appendFloats appends the values of n rows that are there.
	appendFloats(values []float32, n int) ([]float32, error)
	Close() error
}

// readValues opens an array of rows.
func (a *array) readValues() (valuesReader, error) {
	if !a.byColumn {
		return a.read()
	}
	content := a.mapped
	if content == nil {
		var err error
		if content, err = a.all(); err != nil {
			return nil, err
		}
	}
	return &byColumn{array: a, content: content}, nil
}

// all returns the bytes of all elements.
func (a *array) all() ([]byte, error) {
	parts, err := a.read()
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	rows := a.shape[0]
	content := make([]byte, 0, rows*parts.size)
	for parts.row < rows {
		part, err := parts.next(rows - parts.row)
		if err != nil {
			return nil, err
		}
		content = append(content, part...)
	}
	return content, nil
}

// byColumn reads rows whose values are stored column after column, as NumPy does in
// Fortran order and hence for most data frames.
type byColumn struct {
	*array
	content []byte
	row     int       // how many were read
	part    []float32 // of a column
}

func (c *byColumn) Close() error { return nil }

func (c *byColumn) appendFloats(values []float32, n int) ([]float32, error) {
	rows, width, size := c.shape[0], c.shape[1], c.element.size
	values = extend(values, n*width)
	added := values[len(values)-n*width:]
	c.part = extend(c.part[:0], n)
	for j := range width {
		c.element.floats(c.part, c.content[(j*rows+c.row)*size:][:n*size])
		for i, v := range c.part {
			added[i*width+j] = v
		}
	}
	c.row += n
	return values, nil
}
