// Package table reads rows of numbers that somebody else computed, embeddings or a
// classifier's probabilities, together with what is known of each row: a label, an id.
//
// [Open] takes a .npz, .npy, .parquet, .csv or .tsv file, the last two with .gz
// too, and looks at no more than its header. The [Table] that it gives says how many values a row has and what they are. It is
// read in one of two ways:
//
//   - [Table.Batches] goes over all rows in their order, in constant memory, which is what
//     a prediction needs;
//   - [Table.Load] gives [Rows] in any order, which is what training needs. Arrays of a
//     file that are not compressed are mapped, not copied: their rows are converted to
//     float32 as they are asked for. All other forms are kept as float32, once.
//
// Labels are optional, for all rows or for some. They are texts or integers in the file
// and classes, counted from 0, here; see [Table.ClassNames] for their order and
// [Reference] for two tables that share classes.
//
// [Roles] name the columns that are no values, and which rows are of the domain that is read.
//
// Cells of columns may be words, or missing: [Learn] finds the [Encoding] that makes numbers
// of them, and a [Reference] has it.
//
// [WritePredictions] writes what came of the rows, as CSV, in constant memory too.
//
// Every error names the file and the row, counted from 0, or the line of a CSV file, and
// the column. Headers are not believed: memory is taken for what a file holds, never for
// what it promises.
package table
