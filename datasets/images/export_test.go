package images

// Decode returns the image that the content of a file holds.
func Decode(data []byte) (*RGB, error) {
	m := new(RGB)
	return m, m.decode(data)
}
