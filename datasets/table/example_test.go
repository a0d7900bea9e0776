package table_test

import (
	"fmt"
	"log"

	"iwda/datasets/table"
)

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
