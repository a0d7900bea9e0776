package images

// Decode returns the image that the content of a file of a published data set holds.
func Decode(data []byte) (*RGB, error) {
	m := new(RGB)
	_, err := m.decode(data, false)
	return m, err
}

// DecodeOwn returns the image that the content of a user's own file holds.
func DecodeOwn(data []byte) (*RGB, error) {
	m := new(RGB)
	_, err := m.decode(data, true)
	return m, err
}

// Read writes the bytes of image i to dst.
func (r *Reader) Read(dst []byte, i int) error {
	return r.read(&RGB{dst, 3 * r.side, r.side, r.side}, i, new(scratch))
}

// Side is that of the resized images.
func (r *Reader) Side() int { return r.side }
