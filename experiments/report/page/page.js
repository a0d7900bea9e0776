"use strict";
// Tables of class "sortable" are sorted by a click on the head of a column.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortRows(table.tBodies[0], column, head.classList.contains("n"), descending ? -1 : 1);
    });
  });
}

// sortRows moves rows; those without a number come last in both directions.
function sortRows(body, column, numeric, sign) {
  const key = (row) => {
    const cell = row.cells[column];
    return numeric ? parseFloat(cell.dataset.value ?? cell.textContent) : cell.textContent;
  };
  const compare = (a, b) => {
    if (!numeric) return sign * a.localeCompare(b, "en", { numeric: true });
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return sign * (a - b);
  };
  const rows = [...body.rows].map((row) => [key(row), row]);
  rows.sort((a, b) => compare(a[0], b[0]));
  body.append(...rows.map((entry) => entry[1]));
}

// What is to be read on paper is not folded away there.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.print:not([open])")) details.open = true;
});
