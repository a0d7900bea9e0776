package images

// Decode returns the image that the content of a file holds.
func Decode(data []byte) (*RGB, error) {
	m := new(RGB)
	return m, m.decode(data)
}

// Read writes the bytes of image i to dst.
func (r *Reader) Read(dst []byte, i int) error {
	return r.read(&RGB{dst, 3 * r.side, r.side, r.side}, i, new(scratch))
}

// Side is that of the resized images.
func (r *Reader) Side() int { return r.side }
