package datasets

// mostBatchValues bounds the values of a batch, 32 MB of float32. Beyond it a batch does not become
// faster, and what networks make of it takes many times that.
const mostBatchValues = 1 << 23

// BatchRows returns how many rows of a shape pass through a network at a time where none is trained
// on: as many as were asked for, but no more than there are, nor than a bounded memory holds; 1 at
// least. A number of rows that is not known is less than 0.
func BatchRows(asked, rows int, shape []int) int {
	n := min(asked, mostBatchValues/max(1, Size(shape)))
	if rows >= 0 {
		n = min(n, rows)
	}
	return max(1, n)
}
