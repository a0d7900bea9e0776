package table_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"iwda/datasets/table"
)

// A source with labels, a target that has one label of the source's classes, and what a
// classifier would say of the target.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
		return path
	}

	source, err := table.Open(write("source.csv", "label,height,width\ndog,3,4\ncat,1,2\ndog,4,4\n"), table.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	rows, err := source.Load()
	if err != nil {
		log.Fatal(err)
	}
	counts := make([]int, len(rows.ClassNames()))
	for i := range rows.Len() {
		if class, known := rows.Label(i); known {
			counts[class]++
		}
	}
	fmt.Println(rows.Len(), "rows of classes", rows.ClassNames(), counts)

	reference, err := source.Reference()
	if err != nil {
		log.Fatal(err)
	}
	target, err := table.Open(write("target.csv", "id,label,height,width\na,,2,2\nb,dog,4,3\n"), table.Options{Reference: reference})
	if err != nil {
		log.Fatal(err)
	}
	defer target.Close()
	out := filepath.Join(folder, "predictions.csv")
	_, err = table.WritePredictions(out, table.Predictions{Classes: reference.Classes}, func(add table.Add) error {
		for batch, err := range target.Batches(256) {
			if err != nil {
				return err
			}
			for i := range batch.Len() {
				dog := batch.Values[i*target.Width()] / 8 // a poor classifier
				if err := add(batch.ID(i), []float32{1 - dog, dog}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// 3 rows of classes [cat dog] [1 2]
	// id,predicted_class,probability
	// a,cat,0.75
	// b,cat,0.5
}

// The cells of a row in memory, as a server has them, become the values that a model of tables takes.
func ExampleEncoding_Row() {
	encoding := table.Encoding{ // that of a model's Input
		{Column: "colour", Levels: []string{"red", "blue"}},
		{Column: "age", Median: 40, Missing: true},
	}
	values, err := encoding.Row(nil, map[string]string{"colour": "blue", "age": "35"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if values, err = encoding.Row(values, map[string]string{"colour": "green"}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(encoding.Columns())
	fmt.Println(values)
	// Output:
	// [colour=red colour=blue age age is missing]
	// [0 1 35 0 0 0 40 1]
}
