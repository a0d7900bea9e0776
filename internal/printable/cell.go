package printable

import (
	"strconv"
	"strings"
)

// formulaStarts are the characters by which spreadsheets tell a formula.
const formulaStarts = "=+-@\t\r"

// Cell returns a text, an id or the name of a class, as it is written into a CSV file: behind
// an apostrophe if a spreadsheet would take it for a formula, as =1+1 or @name, and not for a
// number, as -1. [FromCell] is its inverse.
func Cell(text string) string {
	bare := strings.TrimLeft(text, "'")
	if bare == "" || !strings.ContainsRune(formulaStarts, rune(bare[0])) || bare == text && isNumber(text) {
		return text
	}
	return "'" + text
}

// FromCell returns the text of a cell that [Cell] wrote, and every other cell as it is.
func FromCell(cell string) string {
	bare := strings.TrimLeft(cell, "'")
	if bare == "" || bare == cell || !strings.ContainsRune(formulaStarts, rune(bare[0])) {
		return cell
	}
	return cell[1:]
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil
}
